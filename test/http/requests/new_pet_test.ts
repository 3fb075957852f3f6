import { assertEquals, assertMatch } from "@std/assert";
import { NAME_MAX_LENGTH } from "../../../events/pet.ts";
import { openTestService } from "../../support/test_service.ts";
import { assertRefused, testEachWay } from "../../support/test_each_way.ts";

const INVALID_BODY = { status: 400, code: "invalid_body" };
const MALFORMED_BODY = { status: 400, code: "malformed_body" };

/** The place of the fault, if V8 names it. */
const NOT_JSON: [body: string, place: string][] = [
  ["{", "line 1, column 2"],
  ["{}{}", "line 1, column 3"],
  ["{'name':'Rex'}", "line 1, column 2"],
  ['{"name":"Rex","categoryId":1,}', "line 1, column 30"],
  ['{"name":"Rex","categoryId":01}', "line 1, column 29"],
  ['{"name":"Rex","categoryId":+1}', ""],
  ['{"name":"Rex","categoryId":1n}', "line 1, column 29"],
  ['{"name":"Rex","categoryId":NaN}', ""],
  ['{"name":"Rex\n","categoryId":1}', "line 1, column 13"],
  ['\ufeff{"name":"Rex","categoryId":1}', ""],
  ['// Rex\n{"name":"Rex","categoryId":1}', ""],
  ['{\r\n"name":"Rex"\n "categoryId":1}', "line 3, column 2"],
  ["name=Rex&categoryId=1", ""],
];

Deno.test("a body that is not JSON is refused, with the place of the fault and without the body's text", async () => {
  await using service = await openTestService();
  for (const [body, place] of NOT_JSON) {
    const where = place === "" ? "" : ` at ${place}: [a-z][-a-zA-Z',{}: ]+`;
    await assertRefused(service, () => service.add(body), {
      ...MALFORMED_BODY,
      message: new RegExp(`^The body is not valid JSON${where}$`),
    });
  }
});

testEachWay("a body that is not UTF-8 is refused", async (service) => {
  const sequences = [[0xff], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80]];
  for (const bytes of sequences) {
    const body = new Uint8Array([
      ...bytesOf('{"name":"'),
      ...bytes,
      ...bytesOf('","categoryId":1}'),
    ]);
    await assertRefused(service, () => service.add(body), {
      ...MALFORMED_BODY,
      message: /^The body is not valid UTF-8 at byte 10$/,
    });
  }
  const latin1 = Uint8Array.from('{"name":"Zoë","categoryId":1}', (it) => it.charCodeAt(0));
  await assertRefused(service, () => service.add(latin1), MALFORMED_BODY);
});

testEachWay("a lone surrogate in a name is refused, and a pair is accepted", async (service) => {
  for (const name of ["\\ud83d", "\\udc08", "\\udc08\\ud83d", "Rex \\uD83D!"]) {
    await assertRefused(service, () => service.add(`{"name":"${name}","categoryId":1}`), {
      ...INVALID_BODY,
      message: /^Field "name" must be well-formed Unicode, without a lone surrogate$/,
    });
  }
  const response = await service.add('{"name":"\\ud83d\\udc08","categoryId":1}');
  assertEquals((await response.json()).name, "🐈");
});

testEachWay("a name is 1 to 1,000 characters long, counted in code points", async (service) => {
  const message = /^Field "name" must be 1 to 1000 characters long$/;
  for (const name of ["", "x".repeat(NAME_MAX_LENGTH + 1), "🐈".repeat(NAME_MAX_LENGTH + 1)]) {
    await assertRefused(service, () => service.add({ name, categoryId: 1 }), {
      ...INVALID_BODY,
      message,
    });
  }
  for (const name of ["x", "x".repeat(NAME_MAX_LENGTH), "🐈".repeat(NAME_MAX_LENGTH)]) {
    const response = await service.add({ name, categoryId: 1 });
    assertEquals(response.status, 201);
    assertEquals((await response.json()).name, name);
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

testEachWay("a categoryId is accepted in every notation of an integer", async (service) => {
  const integers: [written: string, digits: string][] = [
    ["1.0", "1"],
    ["1e3", "1000"],
    ["10e-1", "1"],
    ["-0", "0"],
    ["0e999999999", "0"],
    ["9.223372036854775807e18", "9223372036854775807"],
    ["9223372036854775807", "9223372036854775807"],
    ["9007199254740993", "9007199254740993"],
  ];
  for (const [written, digits] of integers) {
    const response = await service.add(`{"name":"Rex","categoryId":${written}}`);
    assertEquals(response.status, 201, written);
    assertMatch(await response.text(), new RegExp(`"categoryId":${digits}}$`));
  }
  const others = ["1.5", '"1"', "9223372036854775808", "1e999999999", "1e-1", "-1e999999999"];
  others.push("9007199254740992.5", "0.1", "1E+19", "[1]", '{"valueOf":1}', "true", "null");
  for (const written of others) {
    await assertRefused(service, () => service.add(`{"name":"Rex","categoryId":${written}}`), {
      ...INVALID_BODY,
      message: /^Field "categoryId" must be an integer from -\d+ to \d+$/,
    });
  }
});

testEachWay("an unknown field is refused by name", async (service) => {
  const fields = ["colour", "id", "__proto__", "constructor", "toString", "Name", "name ", "", "é"];
  for (const field of fields) {
    const body = `{"name":"Rex","categoryId":1,${JSON.stringify(field)}:1}`;
    await assertRefused(service, () => service.add(body), {
      ...INVALID_BODY,
      message: new RegExp(
        `^Field ${JSON.stringify(field)} is not known; the fields are name, categoryId, status$`,
      ),
    });
  }
});

testEachWay("__proto__ is an unknown field and adds no fields to any object", async (service) => {
  const body = '{"__proto__":{"name":"Rex","categoryId":1}}';
  await assertRefused(service, () => service.add(body), {
    ...INVALID_BODY,
    message: /Field "__proto__" is not known/,
  });
  assertEquals(({} as Record<string, unknown>).name, undefined);
  const { message } = await (await service.add({})).json();
  assertEquals(message, 'Field "name" is missing; Field "categoryId" is missing');
});

testEachWay("a repeated field is refused by name", async (service) => {
  const bodies: [body: string, name: string][] = [
    ['{"name":"Rex","categoryId":1,"name":"Rex"}', "name"],
    ['{"name":"Rex","categoryId":1,"categoryId":2}', "categoryId"],
    ['{"name":"Rex","categoryId":1,"n\\u0061me":"Max"}', "name"],
    ['{"status":"sold","name":"a:b","categoryId":1,"status":"sold"}', "status"],
    ['{"name":"\\"}{","categoryId":1,"name" \n:"Max"}', "name"],
  ];
  for (const [body, name] of bodies) {
    await assertRefused(service, () => service.add(body), {
      ...INVALID_BODY,
      message: new RegExp(`^Field "${name}" is repeated$`),
    });
  }
  const colons = await service.add('{"name":"\\"name\\": {[:","categoryId":1}');
  assertEquals(colons.status, 201);
});

testEachWay(
  "the Error of a body with many faults names a few and counts the rest",
  async (service) => {
    const fields = Array.from({ length: 1_000 }, (_, index) => `"f${index}":0`);
    await assertRefused(service, () => service.add(`{${fields}}`), {
      ...INVALID_BODY,
      message: /^Field .*; and 997 more; the fields are name, categoryId, status$/,
    });
  },
);

testEachWay("20,000 nested brackets are refused", async (service) => {
  const arrays = "[".repeat(20_000) + "]".repeat(20_000);
  const objects = '{"a":'.repeat(10_000) + "1" + "}".repeat(10_000);
  for (const body of [arrays, objects, `{"name":"Rex","categoryId":${arrays}}`]) {
    await assertRefused(service, () => service.add(body), {
      ...MALFORMED_BODY,
      message: /^The body is nested too deep$/,
    });
  }
  await assertRefused(service, () => service.add("[".repeat(20_000)), MALFORMED_BODY);
});

testEachWay("the service accepts a pet after every kind of refusal", async ({ add, send }) => {
  for (const body of ["{", "[".repeat(20_000), '{"name":"\\ud83d","categoryId":1}', "{}"]) {
    assertEquals((await add(body)).status, 400);
  }
  assertEquals((await add({ name: "Rex", categoryId: 1 })).status, 201);
  assertEquals(await (await send("/v1/pets")).json(), [{ id: 1, name: "Rex", categoryId: 1 }]);
});

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
