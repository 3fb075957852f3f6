import { assertEquals } from "@std/assert";
import {
  decodeEvent,
  type EventBody,
  GENESIS_HASH,
  type RecordedEvent,
} from "../../events/event.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../../src/log/idempotency_lifetime.ts";
import { project } from "../../src/projections/project.ts";
import { sampleLog } from "../support/sample_log.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const KEY_ID = "01HZZZZZZZ0000000000000002";
const HASH = "0123456789abcdef".repeat(4);
const encoder = new TextEncoder();

function eventOf(body: EventBody, idempotencyKey?: string): RecordedEvent {
  const metadata = { id: "01HZZZZZZZ0000000000000001", time: TIME, actor: KEY_ID };
  const event = { ...body, ...metadata, position: 9, previousHash: GENESIS_HASH };
  return idempotencyKey === undefined ? event : { ...event, idempotencyKey };
}

Deno.test("project() returns a record by id and a record by status for a pet with a status", () => {
  const event = eventOf({
    type: "PetCreated",
    data: { id: 7, name: "Zoë", categoryId: 1n, status: "sold" },
  });
  const value = encoder.encode('{"id":7,"name":"Zoë","categoryId":1,"status":"sold"}');
  assertEquals(project(event), [
    { key: ["pet", 7], value },
    { key: ["pet_by_status", "sold", 7], value },
  ]);
});

Deno.test("project() returns no record by status for a pet without a status", () => {
  const event = eventOf({ type: "PetCreated", data: { id: 7, name: "Rex", categoryId: 1n } });
  assertEquals(project(event).map(({ key }) => key), [["pet", 7]]);
});

Deno.test("project() returns an idempotency record that expires a day after its event", () => {
  const event = eventOf({ type: "PetCreated", data: { id: 7, name: "Rex", categoryId: 1n } }, HASH);
  const record = project(event).at(-1)!;
  assertEquals(record.key, ["pet_by_idempotency_key", KEY_ID, HASH, 9]);
  assertEquals(record.expiresAt, Date.parse(TIME) + IDEMPOTENCY_LIFETIME_MS);
  assertEquals(JSON.parse(record.value as string).petId, 7);
});

Deno.test("project() returns key records by token hash and position", () => {
  const data = { keyId: KEY_ID, label: "the shop", tokenHash: HASH, expiresAt: TIME };
  const [issued, ...others] = project(eventOf({ type: "ApiKeyIssued", data }));
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
    const [{ value }] = project(eventOf({ type: "ApiKeyRevoked", data }));
    return JSON.parse(value as string).isAtOnce;
  });
  assertEquals(ends, [true, false]);
});

Deno.test("project() never returns the same key for two events, so that their order does not matter", () => {
  const records = sampleLog(500).flatMap((line) => project(decodeEvent(line)));
  const keys = records.map(({ key }) => JSON.stringify(key));
  assertEquals(new Set(keys).size, keys.length);
});
