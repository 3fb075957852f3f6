import type { RecordedLine } from "../../../src/eventstore_less/definitions.ts";
import type { EventBody } from "eventstore-less/application";
import { isPetEvent } from "../../../src/animals/pet_event.ts";
import { petKey } from "../../../src/animals/pet_keys.ts";
import { petOf } from "../../../src/animals/pet_records.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { decodeEvent, encodeEvent, GENESIS_HASH } from "../../../src/eventstore_less/log/event.ts";
import { encodePet, type Pet, type PetPatch } from "../../../events/pet.ts";
import { decodeJson } from "../../../src/encoding/json.ts";
import { IDEMPOTENCY_LIFETIME_MS, projectionKey } from "../../../src/eventstore_less/keyspace.ts";
import { project } from "../../../src/eventstore_less/projections/project.ts";
import { ServiceError } from "../../../src/eventstore_less/service_error.ts";
import { withChecksum } from "../../../src/eventstore_less/store/checksum.ts";
import { sampleLog } from "../../support/sample_log.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const KEY_ID = "01HZZZZZZZ0000000000000002";
const HASH = "0123456789abcdef".repeat(4);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

function lineOf(body: EventBody, { position = 9, idempotencyKey }: {
  position?: number;
  idempotencyKey?: string;
} = {}): RecordedLine {
  const metadata = { id: "01HZZZZZZZ0000000000000001", time: TIME, actor: KEY_ID };
  const event = {
    ...body,
    ...metadata,
    position,
    previousHash: GENESIS_HASH,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
  return { event, line: encoder.encode(encodeEvent(event)) };
}

function petLineOf(pet: Partial<Pet>, idempotencyKey?: string): RecordedLine {
  const data = { id: 7, name: "Rex", categoryId: 1n, ...pet };
  return lineOf({ type: "PetCreated", data }, { position: data.id + 2, idempotencyKey });
}

function changeOf(pet: Partial<Pet>, previous: PetPatch, idempotencyKey?: string): RecordedLine {
  const data = { id: 7, name: "Rex", categoryId: 1n, ...pet, previous };
  return lineOf({ type: "PetUpdated", data }, { position: 20, idempotencyKey });
}

function removalOf(pet: Partial<Pet>, idempotencyKey?: string): RecordedLine {
  const data = { id: 7, name: "Rex", categoryId: 1n, ...pet };
  return lineOf({ type: "PetRemoved", data }, { position: 21, idempotencyKey });
}

/** The contents of the records by their keys; `undefined` if a record is to be removed. */
function contentsOf(lines: RecordedLine[]) {
  return Object.fromEntries(
    project(lines).map(({ key, content }) => [key.join("/"), content && decoder.decode(content)]),
  );
}

/** The pet as its addition at position 9 and its change at position 20 leave it. */
const REX = '9{"id":7,"name":"Rex","categoryId":1}';
const REX_AGAIN = '20{"id":7,"name":"Rex","categoryId":1}';
const SOLD = '20{"id":7,"name":"Rex","categoryId":1,"status":"sold"}';
const ADDED = petLineOf({});
const GETS_STATUS = changeOf({ status: "sold" }, { status: null });
const IS_SOLD = changeOf({ status: "sold" }, { status: "pending" });
const LOSES_STATUS = changeOf({}, { status: "sold" });
const MOVES_ALL = changeOf({ status: "sold" }, { name: "Max", categoryId: 2n });
const IS_REMOVED = removalOf({ status: "sold" });
const MOVED = { "pet/none/7": undefined, "pet/sold/7": SOLD };
const MOVED_BACK = { "pet/sold/7": undefined, "pet/none/7": REX_AGAIN };
const REMOVAL = { "removed_pet/7": "21" };
const ZOE = { "pet/none/8": '10{"id":8,"name":"Zoë","categoryId":1}' };

/** Events, and the records of pets that they write and remove. */
const CASES: [lines: RecordedLine[], records: Record<string, string | undefined>][] = [
  [[ADDED], { "pet/none/7": REX }],
  [[petLineOf({ status: "sold" })], { "pet/sold/7": SOLD.replace("20", "9") }],
  [[GETS_STATUS], MOVED],
  [[IS_SOLD], { "pet/pending/7": undefined, "pet/sold/7": SOLD }],
  [[LOSES_STATUS], MOVED_BACK],
  [[MOVES_ALL], { "pet/sold/7": SOLD }],
  [[ADDED, GETS_STATUS], MOVED],
  [[GETS_STATUS, LOSES_STATUS], MOVED_BACK],
  [[IS_REMOVED], { "pet/sold/7": undefined, ...REMOVAL }],
  [[ADDED, removalOf({})], { "pet/none/7": undefined, ...REMOVAL }],
  [[GETS_STATUS, IS_REMOVED], { ...MOVED, "pet/sold/7": undefined, ...REMOVAL }],
  [[MOVES_ALL, IS_REMOVED], { "pet/sold/7": undefined, ...REMOVAL }],
  [[petLineOf({ id: 8, name: "Zoë" }), GETS_STATUS], { ...ZOE, ...MOVED }],
];

Deno.test("project() writes each pet into the list of its status, and removes it from its former one, or with a record of the removal", () => {
  for (const [lines, records] of CASES) assertEquals(contentsOf(lines), records);
});

Deno.test("petOf() refuses a record whose text is that of another pet", () => {
  const key = projectionKey(1, petKey("none", 8));
  const value = withChecksum(key, encoder.encode(REX));
  assertThrows(() => petOf({ key, value, versionstamp: "1" }), ServiceError, "pet 8 has another");
});

Deno.test("project() returns an idempotency record that expires a day after its event", () => {
  const change = changeOf({ status: "sold" }, { status: null }, HASH);
  const removal = removalOf({ status: "sold" }, HASH);
  const cases = [[petLineOf({}, HASH), 9], [change, 20], [removal, 21]] as const;
  for (const [line, position] of cases) {
    const record = project([line]).at(-1)!;
    assertEquals(record.key, ["event_by_idempotency_key", KEY_ID, HASH, position]);
    assertEquals(record.expiresAt, Date.parse(TIME) + IDEMPOTENCY_LIFETIME_MS);
    assertEquals(decodeJson(record.content), { expiresAt: "2026-01-02T00:00:00.000Z" });
  }
});

Deno.test("project() returns the records of a key by its token hash, and knows an immediate revocation", () => {
  const id = { keyId: KEY_ID, tokenHash: HASH };
  const terms = { label: "the shop", expiresAt: TIME };
  const revoked = (effectiveAt: string) =>
    lineOf({ type: "ApiKeyRevoked", data: { ...id, effectiveAt } });
  const later = "2026-01-01T00:00:00.001Z";
  const issued = { position: 9, issuedAt: TIME, keyId: KEY_ID, ...terms };
  const cases: [line: RecordedLine, contents: object][] = [
    [
      lineOf({ type: "ApiKeyIssued", data: { ...id, ...terms } }),
      { issued_key: issued, key_state: { position: 9 } },
    ],
    [revoked(TIME), { key_state: { position: 9, revokedAt: TIME, isAtOnce: true } }],
    [revoked(later), { key_state: { position: 9, revokedAt: later, isAtOnce: false } }],
  ];
  for (const [line, contents] of cases) {
    const records = project([line]).map(({ key, content }) => {
      assertEquals(key, [key[0], HASH]);
      return [key[0], decodeJson(content)];
    });
    assertEquals(Object.fromEntries(records), contents);
  }
});

Deno.test("project() leads to the same records however the events are grouped, and to each pet in one list", () => {
  const lines = sampleLog(500).map((line): RecordedLine => ({
    event: decodeEvent(line),
    line: encoder.encode(line),
  }));
  const recordsAfter = (size: number) => {
    const records = new Map<string, string>();
    for (let start = 0; start < lines.length; start += size) {
      const group = project(lines.slice(start, start + size));
      const keys = group.map(({ key }) => key.join("/"));
      assertEquals(new Set(keys).size, keys.length, "each record once");
      for (const { key, content } of group) {
        if (content === undefined) records.delete(key.join("/"));
        else records.set(key.join("/"), decoder.decode(content));
      }
    }
    return [...records].sort();
  };
  const all = recordsAfter(lines.length);
  const recordsOf = (kind: string) => all.filter(([key]) => key.startsWith(kind));
  const newest = new Map<number, Pet>();
  for (const { event } of lines) {
    if (event.type === "PetRemoved") newest.delete(event.data.id);
    else if (isPetEvent(event)) newest.set(event.data.id, event.data);
  }
  const pets = [...newest.values()];
  const texts = recordsOf("pet/").map(([, content]) => content.replace(/^\d+/, ""));
  assertEquals(texts.sort(), pets.map(encodePet).sort());
  for (const size of [1, 3, 50]) assertEquals(recordsAfter(size), all);
});
