import { INT64_MAX, INT64_MIN } from "eventstore-less/int64";
import { assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { NAME_MAX_LENGTH, NewPet, Pet, PetPatch } from "../../../events/pet.ts";
import { HttpError } from "../../../src/api/errors.ts";
import { parseBody, parsePatch } from "../../../src/api/requests/parse_body.ts";
import { isDescribed } from "../../support/assert_described.ts";
import { testEachWay } from "../../support/test_each_way.ts";

const FIELDS = Object.keys(NewPet.shape).join(", ");
const LONGEST = "🐈".repeat(NAME_MAX_LENGTH);
const LENGTH = 'Field "name" must be 1 to 1000 characters long';
const UNICODE = 'Field "name" must be well-formed Unicode, without a lone surrogate';
const INT64 = `Field "categoryId" must be an integer from ${INT64_MIN} to ${INT64_MAX}`;
const STATUS = 'Field "status" must be one of available, pending, sold';

/** Bodies, each with what it means or with the message of its refusal. */
type Bodies = [body: string, expected: object | string][];

const rex = (member: string) => `{"name":"Rex","categoryId":1,${member}}`;
const categorized = (value: string) => `{"name":"Rex","categoryId":${value}}`;
const named = (name: string) => `{"name":"${name}","categoryId":1}`;
const unknown = (name: string) => `Field "${name}" is not known; the fields are ${FIELDS}`;
const repeated = (name: string) => `Field "${name}" is repeated`;

const each = (values: string[], bodyOf: (value: string) => string, expected: string): Bodies =>
  values.map((value) => [bodyOf(value), expected]);

const NEW_PETS: Bodies = [
  ...["x", "x".repeat(NAME_MAX_LENGTH), LONGEST, "👩‍🚀"].map((name): Bodies[0] => [
    named(name),
    { name, categoryId: 1n },
  ]),
  [named("\\ud83d\\udc08"), { name: "🐈", categoryId: 1n }],
  [named('\\"name\\": {[:'), { name: '"name": {[:', categoryId: 1n }],
  [rex('"status":"sold"'), { name: "Rex", categoryId: 1n, status: "sold" }],
  [categorized("7.0"), { name: "Rex", categoryId: 7n }],
  [categorized(`${INT64_MIN}`), { name: "Rex", categoryId: INT64_MIN }],
  ...each(["", `${LONGEST}!`], named, LENGTH),
  ...each(["\\ud83d", "\\udc08\\ud83d", "Rex \\uD83D!"], named, UNICODE),
  ...each(["7.5", "9007199254740991.4", "1e30", '"7"', "null", "true", "[1]"], categorized, INT64),
  ...["colour", "__proto__", "toString", "Name", "name ", "", "é"].map((it): Bodies[0] => [
    rex(`"${it}":1`),
    unknown(it),
  ]),
  ...each(
    ["null", "1", '["Rex"]', "{}"],
    (name) => `{"name":${name},"categoryId":7}`,
    'Field "name" must be a string',
  ),
  ["{}", 'Field "name" is missing; Field "categoryId" is missing'],
  ...each(['"lost"', '"SOLD"', '""', '["sold"]', "1"], (it) => rex(`"status":${it}`), STATUS),
  [rex('"status":null'), `${STATUS}, or be left out`],
  [rex('"name":"Tom"'), repeated("name")],
  [rex('"n\\u0061me":"Rex"'), repeated("name")],
  [
    rex(Array.from({ length: 9 }, (_, index) => `"f${index}":0`).join()),
    `${[0, 1, 2, 3, 4].map((index) => `Field "f${index}" is not known`).join("; ")}; and 4 more; ` +
    `the fields are ${FIELDS}`,
  ],
];

const PATCHES: Bodies = [
  ['{"name":"Mia"}', { name: "Mia" }],
  ['{"categoryId":9223372036854775807}', { categoryId: INT64_MAX }],
  ['{"status":"sold","name":"Mia"}', { name: "Mia", status: "sold" }],
  ['{"status":null}', { status: null }],
  ["{}", `The body names no field to change: send any of ${FIELDS}`],
  ['{"id":1}', 'Field "id" is assigned by the service: leave it out'],
  ['{"status":"sold","__proto__":1}', unknown("__proto__")],
  ['{"name":null}', 'Field "name" must be a string, or be left out'],
  ['{"name":""}', LENGTH],
  ['{"name":"\\ud83d"}', UNICODE],
  ['{"status":"lost"}', `${STATUS}, or null`],
  ['{"status":"sold","status":null}', repeated("status")],
  ['{"name":1,"categoryId":null}', `Field "name" must be a string; ${INT64}, or be left out`],
];

const SCHEMAS = {
  PetInput: ["parseBody", (text: string) => parseBody(text, NewPet, Pet), NEW_PETS],
  PetPatch: ["parsePatch", (text: string) => parsePatch(text, PetPatch, Pet), PATCHES],
} as const;

for (const [name, [parser, parse, bodies]] of Object.entries(SCHEMAS)) {
  Deno.test(`${parser}() accepts exactly what the schema ${name} describes, and else says what is wrong`, () => {
    for (const [body, expected] of bodies) {
      const isAccepted = typeof expected === "object";
      if (isAccepted) assertEquals<object>(parse(body), expected);
      else {
        const { code, message } = assertThrows(() => parse(body), HttpError);
        assertEquals([code, message], ["invalid_body", expected], body.slice(0, 100));
      }
      // A schema can express neither of these two rules, and JSON.parse() rounds that number to an integer.
      const isBeyond = expected === UNICODE || /repeated/.test(String(expected)) ||
        body.includes("9007199254740991.4");
      assertEquals(isDescribed(name, JSON.parse(body)), isAccepted || isBeyond, body.slice(0, 100));
    }
  });
}

Deno.test("parseBody() and parsePatch() name the fields of the schema that they were given", () => {
  const resource = z.strictObject({ label: z.string(), since: z.string() });
  const schema = resource.pick({ label: true });
  const refusals: [parse: () => unknown, message: string][] = [
    [
      () => parseBody('{"label":"Dogs","name":"Rex"}', schema, resource),
      'Field "name" is not known; the fields are label',
    ],
    [
      () => parseBody('{"label":"Dogs","since":"now"}', schema, resource),
      'Field "since" is assigned by the service: leave it out',
    ],
    [() => parseBody("{}", schema, resource), 'Field "label" is missing'],
    [
      () => parsePatch("{}", schema.partial(), resource),
      "The body names no field to change: send any of label",
    ],
  ];
  for (const [parse, message] of refusals) {
    assertEquals(assertThrows(parse, HttpError).message, message);
  }
});

testEachWay("a name is returned exactly, whatever characters it has", async ({ add, send }) => {
  const names = ["\0\u0001\u001f\u007f", '"\\/', "\u2028\u2029", "\ufeff\ufffd\uffff", "e\u0301 é"];
  names.push("</script>", "\r\nX-Injected: 1", "__proto__", "\u202e", "𝒳".repeat(500), " ");
  for (const name of names) {
    const created = await add({ name, categoryId: 1 });
    assertEquals(created.status, 201);
    const pet = await created.json();
    assertEquals(pet.name, name);
    assertEquals(await (await send(`/v1/pets/${pet.id}`)).json(), pet);
    assertEquals((await (await send("/v1/pets?limit=1")).json())[0], pet);
  }
});
