import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { NAME_MAX_LENGTH, NewPet } from "../../../events/pet.ts";
import { HttpError } from "../../../src/http/errors.ts";
import { parseNewPet, parsePetPatch } from "../../../src/http/requests/pet_body.ts";
import { testEachWay } from "../../support/test_each_way.ts";

const FIELDS = Object.keys(NewPet.shape).join(", ");

const rex = (member: string) => `{"name":"Rex","categoryId":1,${member}}`;
const named = (name: string) => `{"name":"${name}","categoryId":1}`;
const inCategory = (categoryId: string) => `{"name":"Rex","categoryId":${categoryId}}`;

/** Asserts that each body is refused with that code and message. */
function assertRefuses(bodies: string[], code: string, message: RegExp): void {
  for (const body of bodies) {
    const error = assertThrows(() => parseNewPet(body), HttpError);
    assertEquals(error.code, code, body.slice(0, 100));
    assertMatch(error.message, message);
  }
}

/** The place of the fault, if V8 names it. */
const NOT_JSON: [body: string, place: string][] = [
  ["{", "line 1, column 2"],
  ["{}{}", "line 1, column 3"],
  ["{'name':'Rex'}", "line 1, column 2"],
  ['{"name":"Rex","categoryId":1,}', "line 1, column 30"],
  [inCategory("01"), "line 1, column 29"],
  [inCategory("+1"), ""],
  [inCategory("1n"), "line 1, column 29"],
  [inCategory("NaN"), ""],
  [named("Rex\n"), "line 1, column 13"],
  [`\ufeff${named("Rex")}`, ""],
  [`// Rex\n${named("Rex")}`, ""],
  ['{\r\n"name":"Rex"\n "categoryId":1}', "line 3, column 2"],
  ["name=Rex&categoryId=1", ""],
];

Deno.test("parseNewPet() refuses a body that is not JSON, and names the place without the text", () => {
  for (const [body, place] of NOT_JSON) {
    const where = place === "" ? "" : ` at ${place}: [a-z][-a-zA-Z',{}: ]+`;
    const message = new RegExp(`^The body is not valid JSON${where}$`);
    assertRefuses([body], "malformed_body", message);
  }
});

Deno.test("parseNewPet() refuses a lone surrogate in a name, and takes a pair", () => {
  assertRefuses(
    ["\\ud83d", "\\udc08", "\\udc08\\ud83d", "Rex \\uD83D!"].map(named),
    "invalid_body",
    /^Field "name" must be well-formed Unicode, without a lone surrogate$/,
  );
  assertEquals(parseNewPet(named("\\ud83d\\udc08")).name, "🐈");
});

Deno.test("parseNewPet() takes a name of 1 to 1,000 characters, counted in code points", () => {
  for (const name of ["x", "x".repeat(NAME_MAX_LENGTH), "🐈".repeat(NAME_MAX_LENGTH)]) {
    assertEquals(parseNewPet(named(name)).name, name);
  }
  const others = ["", "x".repeat(NAME_MAX_LENGTH + 1), "🐈".repeat(NAME_MAX_LENGTH + 1)];
  const message = /^Field "name" must be 1 to 1000 characters long$/;
  assertRefuses(others.map(named), "invalid_body", message);
});

Deno.test("parseNewPet() refuses an unknown field by name", () => {
  const names = ["colour", "id", "__proto__", "constructor", "toString", "Name", "name ", "", "é"];
  for (const name of names.map((name) => JSON.stringify(name))) {
    const message = new RegExp(`^Field ${name} is not known; the fields are ${FIELDS}$`);
    assertRefuses([rex(`${name}:1`)], "invalid_body", message);
  }
});

Deno.test("parseNewPet() refuses a repeated field by name, however it is written", () => {
  const bodies = ['"name":"Tom"', '"n\\u0061me":"Rex"', '"name":{"name":1}'].map(rex);
  assertRefuses(bodies, "invalid_body", /^Field "name" is repeated(?:$|;)/);
  assertRefuses([rex('"categoryId" : 2')], "invalid_body", /^Field "categoryId" is repeated$/);
  assertEquals(parseNewPet(named('\\"name\\": {[:')).name, '"name": {[:');
});

Deno.test("parseNewPet() names a few of many faults, and counts the rest", () => {
  const fields = Array.from({ length: 1_000 }, (_, index) => `"f${index}":0`);
  const message = new RegExp(`^Field .*; and 997 more; the fields are ${FIELDS}$`);
  assertRefuses([`{${fields}}`], "invalid_body", message);
});

/** Patches, with what they change, or with the message of the refusal. */
const PATCHES: [body: string, expected: object | string][] = [
  ['{"name":"Mia"}', { name: "Mia" }],
  ['{"categoryId":9223372036854775807}', { categoryId: 9223372036854775807n }],
  ['{"status":"sold","name":"Mia"}', { name: "Mia", status: "sold" }],
  ['{"status":null}', { status: null }],
  ["{}", `The body names no field to change: send any of ${FIELDS}`],
  ['{"id":1}', `Field "id" is not known; the fields are ${FIELDS}`],
  ['{"status":"sold","__proto__":1}', `Field "__proto__" is not known; the fields are ${FIELDS}`],
  ['{"name":null}', 'Field "name" must be a string, or be left out'],
  ['{"name":""}', 'Field "name" must be 1 to 1000 characters long'],
  ['{"name":"\\ud83d"}', 'Field "name" must be well-formed Unicode, without a lone surrogate'],
  ['{"status":"lost"}', 'Field "status" must be one of available, pending, sold, or null'],
  ['{"status":"sold","status":null}', 'Field "status" is repeated'],
  [
    '{"name":1,"categoryId":null}',
    'Field "name" must be a string; Field "categoryId" must be an integer from ' +
    "-9223372036854775808 to 9223372036854775807, or be left out",
  ],
];

Deno.test("parsePetPatch() takes any fields of a pet, and null only for one that a pet need not have", () => {
  for (const [body, expected] of PATCHES) {
    if (typeof expected === "object") assertEquals<object>(parsePetPatch(body), expected);
    else {
      const { code, message } = assertThrows(() => parsePetPatch(body), HttpError);
      assertEquals([code, message], ["invalid_body", expected]);
    }
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
