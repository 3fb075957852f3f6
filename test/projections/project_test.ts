import { assert, assertEquals } from "@std/assert";
import {
  decodeEvent,
  encodeEvent,
  type EventBody,
  GENESIS_HASH,
  type RecordedLine,
} from "../../events/event.ts";
import { encodePet, type Pet, petIdOf } from "../../events/pet.ts";
import { unpackLines } from "../../src/encoding/pack_lines.ts";
import {
  IDEMPOTENCY_LIFETIME_MS,
  PETS_RECORD_LIMIT_BYTES,
  type ProjectionRecord,
} from "../../src/keyspace.ts";
import { project } from "../../src/projections/project.ts";
import { contentOf } from "../support/content_of.ts";
import { sampleLog } from "../support/sample_log.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const KEY_ID = "01HZZZZZZZ0000000000000002";
const HASH = "0123456789abcdef".repeat(4);
const encoder = new TextEncoder();

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

Deno.test("project() packs the pets of several events, under their last id", () => {
  const lines = [
    petLineOf({ id: 7, status: "sold" }),
    petLineOf({ id: 8, name: "Zoë" }),
    petLineOf({ id: 9, status: "available" }),
    petLineOf({ id: 10, status: "sold" }),
  ];
  const text = (...ids: number[]) =>
    lines.map(({ event }) => event.data as Pet)
      .filter(({ id }) => ids.includes(id))
      .map((pet) => `${encodePet(pet)}\n`).join("");
  const records = project(lines)
    .map(({ key, value }) => [key, new TextDecoder().decode(value as Uint8Array)]);
  assertEquals(records, [
    [["pet", 10], text(7, 8, 9, 10)],
    [["pet_by_status", "sold", 10], text(7, 10)],
    [["pet_by_status", "available", 9], text(9)],
  ]);
});

Deno.test("project() splits packed pets only at the limit of packed lines", () => {
  const name = "ä".repeat(100);
  const lines = Array.from({ length: 100 }, (_, index) => petLineOf({ id: index + 1, name }));
  const records = project(lines);
  const values = records.map(({ value }) => value as Uint8Array);
  assertEquals(values.length, 34);
  for (const [index, { length }] of values.entries()) {
    assert(length <= PETS_RECORD_LIMIT_BYTES);
    const next = values[index + 1];
    if (next === undefined) continue;
    assert(length + next.indexOf(10) + 1 > PETS_RECORD_LIMIT_BYTES, "the next pet had room");
  }
  const pets = values.flatMap((value) => unpackLines(value)!.map(petIdOf));
  assertEquals(pets, lines.map((_, index) => index + 1));
  assertEquals(
    records.map(({ key }) => key.at(-1)),
    values.map((value) => petIdOf(unpackLines(value)!.at(-1)!)),
  );
});

Deno.test("project() returns an idempotency record that expires a day after its event", () => {
  const record = project([petLineOf({}, HASH)]).at(-1)!;
  assertEquals(record.key, ["pet_by_idempotency_key", KEY_ID, HASH, 9]);
  assertEquals(record.expiresAt, Date.parse(TIME) + IDEMPOTENCY_LIFETIME_MS);
  assertEquals(JSON.parse(record.value as string).petId, 7);
});

Deno.test("project() returns key records by token hash and position", () => {
  const data = { keyId: KEY_ID, label: "the shop", tokenHash: HASH, expiresAt: TIME };
  const [issued, ...others] = project([lineOf({ type: "ApiKeyIssued", data })]);
  assertEquals(others, []);
  assertEquals(issued.key, ["key_by_token", HASH, 9]);
  assertEquals(JSON.parse(issued.value as string), {
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
    return JSON.parse(value as string).isAtOnce;
  });
  assertEquals(ends, [true, false]);
});

Deno.test("project() returns the same content however the events are grouped", () => {
  const lines = sampleLog(500).map((line): RecordedLine => ({
    event: decodeEvent(line),
    line: encoder.encode(line),
  }));
  const all = contentOf(project(lines));
  for (const size of [1, 3, 50]) {
    const records: ProjectionRecord[] = [];
    for (let start = 0; start < lines.length; start += size) {
      records.push(...project(lines.slice(start, start + size)));
    }
    assertEquals(contentOf(records), all);
    const keys = records.map(({ key }) => JSON.stringify(key));
    assertEquals(new Set(keys).size, keys.length);
  }
});
