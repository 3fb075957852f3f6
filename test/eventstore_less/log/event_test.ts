import type { RecordedEvent } from "../../../events/all_events.ts";
import { INT64_MAX, INT64_MIN } from "eventstore-less/int64";
import type { EventBody } from "../../../events/all_events.ts";
import { APPLICATION } from "../../../src/application.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  decodeEvent,
  encodeEvent,
  GENESIS_HASH,
  MalformedEventError,
  NewerVersionError,
} from "../../../src/eventstore_less/log/event.ts";
import { dataOf, followsHash } from "../../../src/eventstore_less/log/line_text.ts";
import { NAME_MAX_LENGTH, type Pet } from "../../../events/pet.ts";

const METADATA = {
  id: "01HZZZZZZZ0000000000000001",
  time: "2026-01-01T00:00:00.000Z",
  actor: "01HZZZZZZZ0000000000000002",
};
const HASH = "0123456789abcdef".repeat(4);

const PETS: Pet[] = [
  { id: 1, name: "Rex", categoryId: 1n },
  { id: 2, name: '"\\\n🐈\u2028', categoryId: INT64_MAX, status: "sold" },
  { id: Number.MAX_SAFE_INTEGER, name: '","categoryId":7', categoryId: INT64_MIN },
  { id: 4, name: "🐈".repeat(NAME_MAX_LENGTH), categoryId: 12_345_678_901_234_567n },
];
const CHANGES = [
  { ...PETS[0], previous: { name: "Max" } },
  { ...PETS[0], previous: { status: "sold" as const } },
  { ...PETS[1], previous: { name: ',"previous":{', categoryId: INT64_MIN, status: null } },
];
const KEY = { keyId: METADATA.actor, label: "é", tokenHash: HASH };
const REVOCATION = { keyId: METADATA.actor, tokenHash: HASH, effectiveAt: METADATA.time };

/** Bodies, each with the name of its schema. */
const BODIES: [EventBody, schema: string][] = [
  ...PETS.map((data): [EventBody, string] => [{ type: "PetCreated", data }, "pet-created:1"]),
  ...CHANGES.map((data): [EventBody, string] => [{ type: "PetUpdated", data }, "pet-updated:1"]),
  [{ type: "ApiKeyIssued", data: KEY }, "api-key-issued:1"],
  [{ type: "ApiKeyIssued", data: { ...KEY, expiresAt: METADATA.time } }, "api-key-issued:1"],
  [{ type: "ApiKeyIssued", data: { ...KEY, readOnly: true } }, "api-key-issued:2"],
  [{ type: "ApiKeyRevoked", data: REVOCATION }, "api-key-revoked:1"],
  [{ type: "CategoryNamed", data: { id: INT64_MIN, name: '"🐈' } }, "category-named:6.0"],
  [
    { type: "CategoryNamed", data: { id: 0n, name: "Dogs", previous: { name: "\u2028!" } } },
    "category-named:6.0",
  ],
  [{ type: "CategoryRemoved", data: { id: INT64_MAX, name: "Dogs" } }, "category-removed:6.0"],
];

const recorded = (body: EventBody): RecordedEvent => {
  return { ...body, ...METADATA, position: 1, previousHash: GENESIS_HASH };
};

const [LINE, CHANGE_LINE, READ_ONLY_LINE] = [BODIES[0], BODIES[4], BODIES[9]]
  .map(([body]) => encodeEvent(APPLICATION, recorded(body)));

Deno.test("encodeEvent(APPLICATION) writes a CloudEvent with its members in one order", () => {
  assertEquals(
    LINE,
    '{"specversion":"1.0","id":"01HZZZZZZZ0000000000000001","source":"urn:animal-store",' +
      '"type":"PetCreated","time":"2026-01-01T00:00:00.000Z","sequence":"0000000000000001",' +
      '"subject":"pets/1","dataschema":"urn:animal-store:pet-created:1",' +
      `"actor":"01HZZZZZZZ0000000000000002","previoushash":"${GENESIS_HASH}",` +
      '"data":{"id":1,"name":"Rex","categoryId":1}}',
  );
});

Deno.test("decodeEvent(APPLICATION) decodes a line of encodeEvent(APPLICATION), which has the lowest schema version with all members", () => {
  for (const [body, schema] of BODIES) {
    const byOperator = { actor: "operator", position: 12_345, idempotencyKey: HASH };
    for (const event of [recorded(body), { ...recorded(body), ...byOperator }]) {
      const line = encodeEvent(APPLICATION, event);
      assert(!line.includes("\n"), "an event is one line");
      assertEquals(JSON.parse(line).dataschema, `urn:animal-store:${schema}`);
      assertEquals(decodeEvent(APPLICATION, line), event);
      assertEquals(encodeEvent(APPLICATION, decodeEvent(APPLICATION, line)), line);
    }
  }
});

Deno.test("an actor of any characters is in the line as JSON, without a brace before the data", () => {
  for (
    const actor of ['Ann "{Cat}"', "a\\b", "\\u007b", "é🐈 ~", "x".repeat(100), "🐈".repeat(100)]
  ) {
    const event = { ...recorded(BODIES[0][0]), actor };
    const line = encodeEvent(APPLICATION, event);
    assertEquals(JSON.parse(line).actor, actor);
    assertEquals(decodeEvent(APPLICATION, line), event);
    const bytes = new TextEncoder().encode(line);
    assertEquals(new TextDecoder().decode(dataOf(bytes)), '{"id":1,"name":"Rex","categoryId":1}');
    assertEquals(followsHash(bytes, GENESIS_HASH), true);
  }
});

/** The first line with another value of a member of the pet. */
const withValue = (member: string, value: string) =>
  LINE.replace(new RegExp(`("${member}":)[^,}]+(?=[^{]*}}$)`), `$1${value}`);

const MALFORMED: Record<string, string[]> = {
  "an empty line": [""],
  "malformed JSON": [LINE.slice(0, -1)],
  "an array": [`[${LINE}]`],
  "a line break": [`${LINE}\n`],
  "white space": [LINE.replace(",", ", "), LINE.replace("}}", "} }")],
  "another member order": [
    LINE.replace('"specversion":"1.0",', "").replace("}}", '},"specversion":"1.0"}'),
    LINE.replace('"id":1,"name":"Rex"', '"name":"Rex","id":1'),
  ],
  "an unknown member": [LINE.replace("}}", '},"more":1}')],
  "a change of nothing": [CHANGE_LINE.replace('{"name":"Max"}', "{}")],
  "a change without the former values": [CHANGE_LINE.replace(',"previous":{"name":"Max"}', "")],
  "former values of another member": [CHANGE_LINE.replace('"name":"Max"', '"id":2')],
  "a former value that is not possible": [
    ...['""', "null", "7"].map((it) => CHANGE_LINE.replace('"Max"', it)),
    CHANGE_LINE.replace('"name":"Max"', '"status":"gone"'),
  ],
  "a pet without a required member": [
    LINE.replace('"name":"Rex",', ""),
    LINE.replace(',"categoryId":1', ""),
    LINE.replace('"id":1,', "").replace("pets/1", "pets/undefined"),
  ],
  "former values in another order": [
    CHANGE_LINE.replace('"name":"Max"', '"status":null,"name":"Max"'),
  ],
  "an unknown data member": ['"unknown":1', '"constructor":1', '"__proto__":{}']
    .map((it) => LINE.replace("}}", `,${it}}}`)),
  "a repeated member": [LINE.replace('"name":"Rex"', '"name":"Max","name":"Rex"')],
  "another CloudEvents version": [LINE.replace('"1.0"', '"1.1"')],
  "another source": [LINE.replace("urn:animal-store", "urn:another")],
  "an unknown type": [LINE.replace("PetCreated", "PetSold")],
  "a type that is a member of Object.prototype": [LINE.replace("PetCreated", "toString")],
  "an unknown schema version": [0, 2].map((it) => LINE.replace("created:1", `created:${it}`)),
  "a newer schema version": [READ_ONLY_LINE.replace("issued:2", "issued:3")],
  "a schema version that lacks a member": [READ_ONLY_LINE.replace("issued:2", "issued:1")],
  "a schema version whose member is absent": [READ_ONLY_LINE.replace(',"readOnly":true', "")],
  "a member that is absent if it is false": [READ_ONLY_LINE.replace("true", "false")],
  "another event's schema": [LINE.replace("pet-created:1", "api-key-issued:1")],
  "another event's subject": [LINE.replace("pets/1", "pets/2")],
  "an id that is not a ULID": [LINE.replace("01HZZZZZZZ0000000000000001", "1")],
  "a time without milliseconds": [LINE.replace(".000Z", "Z")],
  "a date that does not exist": [LINE.replace("2026-01-01", "2026-02-30")],
  "a short sequence": [LINE.replace("0000000000000001", "1")],
  "a hash in capitals": [LINE.replace(GENESIS_HASH, HASH.toUpperCase())],
  "an actor in another form": [
    ...["", "a{b", 'a"b', "a\\nb", "\\u0061", "\\u007B", "\\/", "a\nb", "\u2028", "\ud83d"],
    "x".repeat(101),
  ].map((actor) => LINE.replace(METADATA.actor, actor)),
  "another pet id or another form of it": [
    ...["0", "-1"].map((id) => withValue("id", id).replace("pets/1", `pets/${id}`)),
    ...["01", "1.0", "1e0", '"1"', "9007199254740992", "9".repeat(400)]
      .map((id) => withValue("id", id)),
  ],
  "a number beyond int64 or in another form": [
    ...["9223372036854775808", "-9223372036854775809", "9007199254740993.5", "01", "-0", "1.0"],
    ...["1e1", "0.99999999999999999999", '"1"', "null"],
  ].map((number) => withValue("categoryId", number)),
  "a name that is too short or too long, or in another form": [
    ...['""', "1", "null", '"\\ud83d"', '"\ud83d"', '"\\u0052ex"', '"a\nb"', '"a"b"'],
    ...["x", "🐈"].map((one) => `"${one.repeat(NAME_MAX_LENGTH + 1)}"`),
  ].map((name) => withValue("name", name)),
  "an unknown status": ['"gone"', "null"].map((it) => LINE.replace("}}", `,"status":${it}}}`)),
};

Deno.test("decodeEvent(APPLICATION) refuses any other line, with a message of one line", () => {
  for (const [fault, lines] of Object.entries(MALFORMED)) {
    for (const line of lines) {
      assert(![LINE, READ_ONLY_LINE].includes(line), fault);
      const { message } = assertThrows(() => decodeEvent(APPLICATION, line), MalformedEventError);
      assert(message.length > 0 && !message.includes("\n"), message);
    }
  }
});

Deno.test("decodeEvent(APPLICATION) says that a newer release wrote a line, also one of another form", () => {
  const known = LINE.replace('"subject":', '"region":"eu","subject":');
  const line = known.replace(":pet-created:1", ":pet-created:99.1");
  const decode = () => decodeEvent(APPLICATION, line);
  const { position, previousHash } = assertThrows(decode, NewerVersionError, "needs release 99.1");
  assertEquals([position, previousHash], [1, GENESIS_HASH]);
  // This version knows all that a line with that schema can have.
  const fault = assertThrows(() => decodeEvent(APPLICATION, known), MalformedEventError);
  assert(!(fault instanceof NewerVersionError), fault.message);
});
