import { assertEquals } from "@std/assert";
import {
  PackedComparison,
  type PackedDifference,
} from "../../../scripts/audit/packed_comparison.ts";
import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";

const encoder = new TextEncoder();

/** The ids of the expected pets: with gaps, as in a list by status. */
const IDS = [1, 2, 4, 7, 8, 9, 12, 15];
const LAST_ID = 16;

function textOf(id: number): string {
  return `{"id":${id},"name":"pet ${id}"}`;
}

function packed(texts: string[]): Uint8Array {
  return encoder.encode(texts.map((text) => `${text}\n`).join(""));
}

type Record = [lastId: number, value: Uint8Array | string];

function recordOf(...ids: number[]): Record {
  return [ids.at(-1)!, packed(ids.map(textOf))];
}

/** Compares stored records with the pets of IDS. `cuts` are the last ids of the calls of follow(). */
async function differencesOf(
  records: Record[],
  cuts: number[] = [LAST_ID],
): Promise<PackedDifference[]> {
  const store = new KvStore(await Deno.openKv(":memory:"));
  try {
    for (const [lastId, value] of records) {
      const mutations = [{ type: "set", key: ["pet", lastId], value } as const];
      await store.commit({ checks: [], mutations });
    }
    const differences: PackedDifference[] = [];
    const range = { start: ["pet", 1], end: ["pet", Number.MAX_SAFE_INTEGER] };
    const comparison = new PackedComparison(store, range, (one) => differences.push(one));
    let first = 1;
    for (const last of cuts) {
      const texts = IDS.filter((id) => id >= first && id <= last).map(textOf);
      // Values of two pets each, so that records and expected values end at different pets.
      const values = texts.flatMap((_, i) => i % 2 === 0 ? [packed(texts.slice(i, i + 2))] : []);
      await comparison.follow(values, last);
      first = last + 1;
    }
    return differences;
  } finally {
    store.close();
  }
}

const GROUPINGS: Record[][] = [
  [recordOf(...IDS)],
  IDS.map((id) => recordOf(id)),
  [recordOf(1, 2, 4), recordOf(7), recordOf(8, 9, 12, 15)],
];
const CUTS = [[16], [1, 2, 3, 8, 16], [5, 5, 10, 16], [7, 11, 16]];

Deno.test("PackedComparison finds nothing in sound records, whatever their grouping", async () => {
  for (const records of GROUPINGS) {
    for (const cuts of CUTS) assertEquals(await differencesOf(records, cuts), []);
  }
});

Deno.test("PackedComparison finds every single damaged piece", async () => {
  const damages: [name: string, Record[], PackedDifference[]][] = [
    ["a missing pet", [recordOf(1, 2, 4), recordOf(8, 9, 12, 15)], [{ kind: "missing", id: 7 }]],
    ["a pet missing within a record", [recordOf(1, 4), recordOf(7, 8, 9, 12, 15)], [
      { kind: "missing", id: 2 },
    ]],
    ["an extra pet", [recordOf(1, 2, 3, 4), recordOf(7, 8, 9, 12, 15)], [{ kind: "extra", id: 3 }]],
    ["an extra record", [recordOf(1, 2, 4), recordOf(5), recordOf(7, 8, 9, 12, 15)], [
      { kind: "extra", id: 5 },
    ]],
    [
      "a record within another one",
      [recordOf(1, 2, 4), recordOf(6), recordOf(4, 7, 8, 9, 12, 15)],
      [
        { kind: "extra", id: 6 },
        { kind: "extra", id: 4 },
      ],
    ],
    ["an overlap", [recordOf(1, 2, 4, 7), recordOf(4, 7, 8, 9, 12, 15)], [
      { kind: "extra", id: 4 },
      { kind: "extra", id: 7 },
    ]],
    ["an altered pet", [
      [4, packed([textOf(1), textOf(2).replace("pet", "Pet"), textOf(4)])],
      recordOf(7, 8, 9, 12, 15),
    ], [{ kind: "altered", id: 2 }]],
    ["two pets in one line", [
      [4, packed([textOf(1), textOf(2) + textOf(4)])],
      recordOf(7, 8, 9, 12, 15),
    ], [{ kind: "altered", key: ["pet", 4], id: 1 }]],
    ["another order", [[4, packed([textOf(2), textOf(1), textOf(4)])], recordOf(7, 8, 9, 12, 15)], [
      { kind: "altered", key: ["pet", 4], id: 1 },
    ]],
    ["a record under another id", [
      [5, packed([textOf(1), textOf(2), textOf(4)])],
      recordOf(7, 8, 9, 12, 15),
    ], [{ kind: "altered", key: ["pet", 5], id: 1 }]],
    ["a record cut after a line", [
      [4, packed([textOf(1), textOf(2)])],
      recordOf(7, 8, 9, 12, 15),
    ], [{ kind: "altered", key: ["pet", 4], id: 1 }]],
    ["a text instead of bytes", [[4, "text"], recordOf(7, 8, 9, 12, 15)], [
      { kind: "altered", key: ["pet", 4], id: 1 },
    ]],
    ["an empty record", [recordOf(1, 2, 4), [5, new Uint8Array()], recordOf(7, 8, 9, 12, 15)], [
      { kind: "extra", key: ["pet", 5], id: undefined },
    ]],
    ["no records", [], IDS.map((id) => ({ kind: "missing", id }))],
  ];
  for (const [name, records, expected] of damages) {
    for (const cuts of CUTS) {
      const found = await differencesOf(records, cuts);
      // A damaged record that several calls cover is reported by the first of them.
      assertEquals(found.length > 0, true, `${name}, ${cuts}`);
      if (cuts.length === 1) assertEquals(found, expected, name);
    }
  }
});

Deno.test("PackedComparison finds each altered byte and each cut of a record", async () => {
  const sound = recordOf(1, 2, 4)[1] as Uint8Array;
  const rest = recordOf(7, 8, 9, 12, 15);
  for (let index = 0; index < sound.length; index++) {
    const altered = sound.slice();
    altered[index] ^= 1;
    for (const value of [altered, sound.slice(0, index)]) {
      const found = await differencesOf([[4, value], rest], [1, 16]);
      assertEquals(found.length > 0, true, `byte ${index} of ${value.length}`);
    }
  }
});
