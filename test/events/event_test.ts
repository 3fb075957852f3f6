import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  decodeEvent,
  encodeEvent,
  type EventBody,
  GENESIS_HASH,
  MalformedEventError,
  type RecordedEvent,
} from "../../events/event.ts";
import { INT64_MAX } from "../../events/int64.ts";

const METADATA = {
  id: "01HZZZZZZZ0000000000000001",
  time: "2026-01-01T00:00:00.000Z",
  actor: "01HZZZZZZZ0000000000000002",
};
const HASH = "0123456789abcdef".repeat(4);

const BODIES: EventBody[] = [
  { type: "PetCreated", data: { id: 1, name: "Rex", categoryId: 1n } },
  {
    type: "PetCreated",
    data: { id: 2, name: '"\\\n🐈\u2028', categoryId: INT64_MAX, status: "sold" },
  },
  { type: "ApiKeyIssued", data: { keyId: METADATA.actor, label: "the shop", tokenHash: HASH } },
  {
    type: "ApiKeyIssued",
    data: { keyId: METADATA.actor, label: "é", tokenHash: HASH, expiresAt: METADATA.time },
  },
  {
    type: "ApiKeyIssued",
    data: { keyId: METADATA.actor, label: "x", tokenHash: HASH, readOnly: true },
  },
  {
    type: "ApiKeyRevoked",
    data: { keyId: METADATA.actor, tokenHash: HASH, effectiveAt: METADATA.time },
  },
];

const EVENTS: RecordedEvent[] = BODIES.flatMap((body) => [
  { ...body, ...METADATA, position: 1, previousHash: GENESIS_HASH },
  {
    ...body,
    ...METADATA,
    actor: "operator",
    position: 12_345,
    previousHash: HASH,
    idempotencyKey: HASH,
  },
]);

const LINE = encodeEvent(EVENTS[0]);

Deno.test("encodeEvent() writes a CloudEvent with its members in one order", () => {
  assertEquals(
    LINE,
    '{"specversion":"1.0","id":"01HZZZZZZZ0000000000000001","source":"urn:animal-store",' +
      '"type":"PetCreated","time":"2026-01-01T00:00:00.000Z","sequence":"0000000000000001",' +
      '"subject":"pets/1","dataschema":"urn:animal-store:pet-created:1",' +
      `"actor":"01HZZZZZZZ0000000000000002","previoushash":"${GENESIS_HASH}",` +
      '"data":{"id":1,"name":"Rex","categoryId":1}}',
  );
});

Deno.test("decodeEvent() decodes a line of encodeEvent(), and encodeEvent() restores that line", () => {
  for (const event of EVENTS) {
    const line = encodeEvent(event);
    assert(!line.includes("\n"), "an event is one line");
    assertEquals(decodeEvent(line), event);
    assertEquals(encodeEvent(decodeEvent(line)), line);
  }
});

Deno.test("encodeEvent() writes a sequence that sorts as text in log order", () => {
  const positions = [1, 2, 9, 10, 99, 100, 12_345, 10 ** 15, Number.MAX_SAFE_INTEGER];
  const lines = positions.map((position) => encodeEvent({ ...EVENTS[0], position }));
  assertEquals([...lines].sort(), lines);
  assertEquals(lines.map((line) => decodeEvent(line).position), positions);
});

Deno.test("encodeEvent() names the lowest schema version that has all members of the data", () => {
  const schemas = BODIES.map((body) => {
    const event = { ...body, ...METADATA, position: 1, previousHash: GENESIS_HASH };
    return JSON.parse(encodeEvent(event)).dataschema;
  });
  assertEquals(schemas, [
    "urn:animal-store:pet-created:1",
    "urn:animal-store:pet-created:1",
    "urn:animal-store:api-key-issued:1",
    "urn:animal-store:api-key-issued:1",
    "urn:animal-store:api-key-issued:2",
    "urn:animal-store:api-key-revoked:1",
  ]);
});

const READ_ONLY_LINE = encodeEvent(
  EVENTS.find(({ data }) => "readOnly" in data)!,
);

const MALFORMED: Record<string, string> = {
  "an empty line": "",
  "malformed JSON": LINE.slice(0, -1),
  "an array": `[${LINE}]`,
  "a line break": `${LINE}\n`,
  "white space": LINE.replace(",", ", "),
  "another member order": LINE.replace('"specversion":"1.0",', "")
    .replace("}}", '},"specversion":"1.0"}'),
  "an unknown member": LINE.replace("}}", '},"more":1}'),
  "an unknown data member": LINE.replace("}}", ',"unknown":"red"}}'),
  "a repeated member": LINE.replace('"name":"Rex"', '"name":"Max","name":"Rex"'),
  "an unnecessary escape": LINE.replace("Rex", "\\u0052ex"),
  "a number in another form": LINE.replace('"categoryId":1', '"categoryId":1.0'),
  "another CloudEvents version": LINE.replace('"1.0"', '"1.1"'),
  "another source": LINE.replace("urn:animal-store", "urn:another"),
  "an unknown type": LINE.replace("PetCreated", "PetSold"),
  "a type that is a member of Object.prototype": LINE.replace("PetCreated", "toString"),
  "an unknown schema version": LINE.replace("pet-created:1", "pet-created:2"),
  "a newer schema version": READ_ONLY_LINE.replace("issued:2", "issued:3"),
  "a schema version that lacks a member": READ_ONLY_LINE.replace("issued:2", "issued:1"),
  "a schema version whose member is absent": READ_ONLY_LINE.replace(',"readOnly":true', ""),
  "a member that is absent if it is false": READ_ONLY_LINE.replace("true", "false"),
  "another event's schema": LINE.replace("pet-created:1", "api-key-issued:1"),
  "another event's subject": LINE.replace("pets/1", "pets/2"),
  "an id that is not a ULID": LINE.replace("01HZZZZZZZ0000000000000001", "1"),
  "a time without milliseconds": LINE.replace(".000Z", "Z"),
  "a date that does not exist": LINE.replace("2026-01-01", "2026-02-30"),
  "a short sequence": LINE.replace("0000000000000001", "1"),
  "a hash in capitals": encodeEvent({ ...EVENTS[0], previousHash: HASH.toUpperCase() }),
  "an actor that is not a key id": LINE.replace('"actor":"01HZ', '"actor":"x'),
  "a pet id of 0": LINE.replace('"id":1,', '"id":0,').replace("pets/1", "pets/0"),
  "an empty name": LINE.replace("Rex", ""),
  "a lone surrogate": LINE.replace("Rex", "\\ud83d"),
};

for (const [fault, line] of Object.entries(MALFORMED)) {
  Deno.test(`decodeEvent() refuses ${fault}, with a message of one line`, () => {
    const { message } = assertThrows(() => decodeEvent(line), MalformedEventError);
    assert(message.length > 0 && !message.includes("\n"), message);
  });
}
