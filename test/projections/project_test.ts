import { assertEquals } from "@std/assert";
import {
  decodeEvent,
  encodeEvent,
  type EventBody,
  GENESIS_HASH,
  type RecordedLine,
} from "../../events/event.ts";
import { decodePet, type Pet, type PetPatch } from "../../events/pet.ts";
import { decodeJson } from "../../src/encoding/json.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../../src/keyspace.ts";
import { project } from "../../src/projections/project.ts";
import { sampleLog } from "../support/sample_log.ts";

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

/** The texts of the records by their keys, in order; `undefined` if a record is to be removed. */
function textsOf(lines: RecordedLine[]) {
  return project(lines).map(({ key, value }) => [key.join("/"), value && decoder.decode(value)]);
}

const REX = '{"id":7,"name":"Rex","categoryId":1}';
const SOLD = '{"id":7,"name":"Rex","categoryId":1,"status":"sold"}';
const ADDED = petLineOf({});

/** Events, and the records of pets that they write and remove. */
const CASES: [name: string, lines: RecordedLine[], records: Record<string, string | undefined>][] =
  [
    ["an addition", [ADDED], { "pet/none/7": REX }],
    ["an addition with a status", [petLineOf({ status: "sold" })], { "pet/sold/7": SOLD }],
    [
      "a first status",
      [changeOf({ status: "sold" }, { status: null })],
      { "pet/none/7": undefined, "pet/sold/7": SOLD },
    ],
    [
      "another status",
      [changeOf({ status: "sold" }, { status: "pending" })],
      { "pet/pending/7": undefined, "pet/sold/7": SOLD },
    ],
    [
      "no status any more",
      [changeOf({}, { status: "sold" })],
      { "pet/sold/7": undefined, "pet/none/7": REX },
    ],
    [
      "another name and category",
      [changeOf({ status: "sold" }, { name: "Max", categoryId: 2n })],
      { "pet/sold/7": SOLD },
    ],
    [
      "an addition and a change",
      [ADDED, changeOf({ status: "sold" }, { status: null })],
      { "pet/none/7": undefined, "pet/sold/7": SOLD },
    ],
    [
      "a change there and back",
      [changeOf({ status: "sold" }, { status: null }), changeOf({}, { status: "sold" })],
      { "pet/none/7": REX, "pet/sold/7": undefined },
    ],
    [
      "two pets",
      [petLineOf({ id: 8, name: "Zoë" }), changeOf({ status: "sold" }, { status: null })],
      {
        "pet/none/8": '{"id":8,"name":"Zoë","categoryId":1}',
        "pet/none/7": undefined,
        "pet/sold/7": SOLD,
      },
    ],
  ];

Deno.test("project() writes each pet into the list of its status, and removes it from its former one", () => {
  for (const [name, lines, records] of CASES) {
    assertEquals(textsOf(lines), Object.entries(records), name);
  }
});

Deno.test("project() returns an idempotency record that expires a day after its event", () => {
  const change = changeOf({ status: "sold" }, { status: null }, HASH);
  for (const [line, position] of [[petLineOf({}, HASH), 9], [change, 20]] as const) {
    const record = project([line]).at(-1)!;
    assertEquals(record.key, ["event_by_idempotency_key", KEY_ID, HASH, position]);
    assertEquals(record.expiresAt, Date.parse(TIME) + IDEMPOTENCY_LIFETIME_MS);
    assertEquals(decodeJson(record.value), { expiresAt: "2026-01-02T00:00:00.000Z" });
  }
});

Deno.test("project() returns key records by token hash and position", () => {
  const data = { keyId: KEY_ID, label: "the shop", tokenHash: HASH, expiresAt: TIME };
  const [issued, ...others] = project([lineOf({ type: "ApiKeyIssued", data })]);
  assertEquals(others, []);
  assertEquals(issued.key, ["key_by_token", HASH, 9]);
  assertEquals(decodeJson(issued.value), {
    keyId: KEY_ID,
    label: "the shop",
    issuedAt: TIME,
    expiresAt: TIME,
  });
});

Deno.test("project() distinguishes an immediate revocation from a future one", () => {
  const ends = [TIME, "2026-01-01T00:00:00.001Z"].map((effectiveAt) => {
    const data = { keyId: KEY_ID, tokenHash: HASH, effectiveAt };
    const [{ value }] = project([lineOf({ type: "ApiKeyRevoked", data })]);
    return decodeJson(value).isAtOnce;
  });
  assertEquals(ends, [true, false]);
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
      for (const { key, value } of group) {
        if (value === undefined) records.delete(key.join("/"));
        else records.set(key.join("/"), decoder.decode(value));
      }
    }
    return [...records].sort();
  };
  const all = recordsAfter(lines.length);
  const pets = all.filter(([key]) => key.startsWith("pet/")).map(([, text]) => decodePet(text));
  const newest = new Map(
    lines.flatMap(({ event: { data } }) => "name" in data ? [data] : [])
      .map(({ id, name, categoryId, status }) => [id, { name, categoryId, status }]),
  );
  assertEquals(pets.length, newest.size);
  for (const { id, name, categoryId, status } of pets) {
    assertEquals({ name, categoryId, status }, newest.get(id));
  }
  for (const size of [1, 3, 50]) assertEquals(recordsAfter(size), all);
});
