import { assertEquals } from "@std/assert";
import {
  matchesStore,
  type PackedRecords,
  packRecords,
} from "../../src/maintenance/packed_records.ts";
import { petByStatusKey, petKey, projectionKey, type RecordKey } from "../../src/keyspace.ts";
import { SCAN_BATCH } from "../../src/store/scan.ts";
import type { Mutation, Store } from "../../src/store/store.ts";
import { ModelStore } from "../sim/model_store.ts";

const encoder = new TextEncoder();

/** More than a scan reads in one batch. */
const PETS = SCAN_BATCH + 3;

type KeyOf = (id: number) => RecordKey;
const ofStatus: KeyOf = (id) => petByStatusKey("sold", id);

function recordOf(keyOf: KeyOf, id: number) {
  return { key: keyOf(id), value: encoder.encode(`{"id":${id}}`) };
}

/** Pets from one id to another. The even ones are sold. */
function expectedOf(first: number, last: number): PackedRecords[] {
  const ids = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return [[petKey, ids] as const, [ofStatus, ids.filter((id) => id % 2 === 0)] as const]
    .map(([keyOf, ids]) => {
      const range = {
        start: projectionKey(1, keyOf(first)),
        end: projectionKey(1, keyOf(last + 1)),
      };
      return packRecords(range, ids.map((id) => recordOf(keyOf, id)));
    });
}

async function openStore(): Promise<Store> {
  const store = new ModelStore();
  for (let id = 1; id <= PETS; id++) {
    const keys = id % 2 === 0 ? [petKey, ofStatus] : [petKey];
    await change(store, keys.map((keyOf) => set(keyOf, id, recordOf(keyOf, id).value)));
  }
  return store;
}

function set(keyOf: KeyOf, id: number, value: string | Uint8Array): Mutation {
  return { type: "set", key: projectionKey(1, keyOf(id)), value };
}

async function change(store: Store, mutations: Mutation[]): Promise<void> {
  await store.commit({ checks: [], mutations });
}

Deno.test("matchesStore() accepts any range of the records of a store", async () => {
  const store = await openStore();
  for (const [first, last] of [[1, PETS], [1, 1], [2, 2], [3, 400], [PETS, PETS], [7, 6]]) {
    assertEquals(await matchesStore(store, expectedOf(first, last)), true, `${first} to ${last}`);
  }
  assertEquals(await matchesStore(store, expectedOf(1, PETS + 1)), false);
});

Deno.test("matchesStore() finds any difference from the expected records", async () => {
  const { value } = recordOf(petKey, 4);
  const changes: Record<string, Mutation> = {
    "a value that is altered": set(petKey, 4, encoder.encode('{"id":5}')),
    "a value with more bytes": set(petKey, 4, encoder.encode('{"id":4} ')),
    "a value with fewer bytes": set(petKey, PETS, value.subarray(1)),
    "a value of text": set(ofStatus, 4, '{"id":4}'),
    "a record that is missing": { type: "delete", key: projectionKey(1, petKey(4)) },
    "the last record missing": { type: "delete", key: projectionKey(1, petKey(PETS)) },
    "one that is too many": set(ofStatus, 5, value),
    "one with a longer key": { type: "set", key: [...projectionKey(1, petKey(4)), 5], value },
  };
  for (const [difference, mutation] of Object.entries(changes)) {
    const store = await openStore();
    await change(store, [mutation]);
    assertEquals(await matchesStore(store, expectedOf(1, PETS)), false, difference);
  }
});
