/** The operation listPetEvents: long, older and damaged histories. */

import type { EventBody } from "../../events/all_events.ts";
import { assert, assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { logMutations } from "../../src/eventstore_less/keyspace.ts";
import { readLog } from "../../src/eventstore_less/log/read_log.ts";
import { assertError } from "../support/assert_error.ts";
import { readPage, readPages } from "../support/read_pages.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";
import { commit } from "../support/store_contract.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };

/** An event of the history. */
interface PetEvent {
  data: { name: string };
}

/** Adds pets 1 to 3, and changes pet 2 that often, with other events in between. */
async function addHistory(service: TestService, changes: number): Promise<void> {
  for (let count = 0; count < 3; count++) await service.add(REX);
  for (let number = 1; number <= changes; number++) {
    await service.change(2, { name: `Rex ${number}` });
    await service.change(1 + 2 * (number % 2), { name: `Max ${number}` });
  }
}

/** The names in the events on a page and all later pages, page by page. */
async function namesOf(client: Pick<TestService, "send">, path: string): Promise<string[][]> {
  const pages = await Array.fromAsync(readPages<PetEvent>(client, path));
  return pages.map(({ items }) => items.map(({ data }) => data.name));
}

Deno.test("a page of a history ends at a megabyte", async () => {
  await using service = await openTestService();
  await service.add(REX);
  const longName = "\u0001".repeat(1_000);
  for (let number = 0; number < 100; number++) {
    await service.change(1, { name: longName.slice(0, -1) + String.fromCharCode(97 + number % 2) });
  }
  const pages = await namesOf(service, "/v1/pets/1/events?limit=100");
  const lengths = pages.map(({ length }) => length);
  assertEquals(lengths, [85, 16]);
});

Deno.test("a history ends with the newest event that names none before, as those before format 6", async () => {
  await using service = await openTestService();
  await service.add(REX);
  const pet = { id: 1, name: "Max", categoryId: 7n, status: "available" } as const;
  const older: EventBody[] = [
    { type: "PetUpdated", data: { ...pet, previous: { name: "Rex" } } },
    { type: "PetUpdated", data: { ...pet, name: "Mia", previous: { name: "Max" } } },
  ];
  for (const body of older) {
    const { id: actor } = await issueApiKey(service, { label: "older" });
    const time = new Date(service.runtime.now()).toISOString();
    const event = { ...body, id: service.runtime.newId(), time, actor };
    await service.appender.append({ prepare() {}, decide: () => [event] });
  }
  const client = otherInstance(service);
  await client.change(1, { name: "Bob" });
  const pages = await namesOf(client, "/v1/pets/1/events?limit=1");
  assertEquals(pages, [["Bob"], ["Mia"]]);
});

/** The lines of a store with the history of pet 2, changed by one of these, and what clients are told. */
const DAMAGES: [
  words: string,
  damage: (lines: Map<number, string>, at: Record<string, number>) => void,
][] = [
  [
    "names the line of another animal",
    (lines, { last, other }) =>
      replaceIn(lines, last, /("predecessor":")\d+/, `$1${String(other).padStart(16, "0")}`),
  ],
  [
    "continues from another name",
    (lines, { last }) => replaceIn(lines, last, /("previous":{"name":")[^"]*/, "$1Moe"),
  ],
];

function replaceIn(lines: Map<number, string>, at: number, from: RegExp, to: string): void {
  const line = lines.get(at)!;
  assert(from.test(line), line);
  lines.set(at, line.replace(from, to));
}

Deno.test("a history whose lines do not follow from each other is projection_damaged", async () => {
  for (const [words, damage] of DAMAGES) {
    await using service = await openTestService();
    await addHistory(service, 3);
    const { store } = service;
    const { position: to } = (await service.heads.fresh()).head;
    const stored = (await Array.fromAsync(readLog(store, { from: 1, to }))).flat();
    const decoder = new TextDecoder();
    const lines = new Map(stored.map(({ position, line }) => [position, decoder.decode(line)]));
    const positionsOf = (subject: string) =>
      [...lines].filter(([, line]) => line.includes(`"subject":"${subject}"`))
        .map(([position]) => position);
    const last = positionsOf("pets/2").at(-1)!;
    const [other] = positionsOf("pets/1");
    damage(lines, { last, other });
    for (const [position, line] of lines) {
      const [{ key, value }] = logMutations(position, [new TextEncoder().encode(line)]);
      await commit(store, [{ type: "set", key, value }]);
    }
    const client = otherInstance(service);
    const response = await client.send("/v1/pets/2/events");
    await assertError(response, { status: 500, code: "projection_damaged" });
    // The newest event is sound alone.
    const { items } = await readPage<PetEvent>(client, "/v1/pets/2/events?limit=1");
    assertEquals(items.map(({ data }) => data.name), ["Rex 3"], words);
  }
});
