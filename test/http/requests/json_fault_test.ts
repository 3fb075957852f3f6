import { assertEquals, assertThrows } from "@std/assert";
import { findJsonFault } from "../../../src/http/requests/json_fault.ts";

const VALID = [
  '{"name":"Rex \\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9 🐈","categoryId":7,"status":"sold"}',
  " [ ] ",
  '\t{\r\n"a" : [ 1 , -0.5e+10 , 2E-3, true , false , null , { } , "" ] }\n',
  "null",
  '"\u007f\u2028\ufeff"',
  "-0",
];

const FAULTS: [text: string, at: string, expected: string, found: string][] = [
  ["name=Rex&categoryId=1", "1:1", "a JSON object", '"n"'],
  ['{"name":"Rex","categoryId":7', "1:29", '"," or "}"', "the end of the body"],
  ['{"name":"Rex","categoryId":7,}', "1:30", "a field name in double quotes", '"}"'],
  ["{'name':'Rex'}", "1:2", 'a field name in double quotes or "}"', `"'"`],
  ['{name:"Rex"}', "1:2", 'a field name in double quotes or "}"', '"n"'],
  ['{"name"="Rex"}', "1:8", '":"', '"="'],
  ['{"name":}', "1:9", "a value", '"}"'],
  ['{"name":"Rex"\n "categoryId":7}', "2:2", '"," or "}"', "a quotation mark"],
  ['{\r\n\r"🐈":\n NaN}', "4:2", "a value", '"NaN"'],
  ['{"🐈":None}', "1:6", "a value", '"None"'],
  ['{"a":01}', "1:7", '"," or "}"', '"1"'],
  ['{"a":+1}', "1:6", "a value", '"+"'],
  ['{"a":1n}', "1:7", '"," or "}"', '"n"'],
  ['{"a":[1,]}', "1:9", "a value", '"]"'],
  ['{"a":[}', "1:7", 'a value or "]"', '"}"'],
  ['{"a":"Rex\n"}', "1:10", "an escape in the string", "a line break"],
  ['{"a":"\0"}', "1:7", "an escape in the string", "U+0000"],
  ['{"a":"\\x41"}', "1:7", "an escape of JSON", '"\\x"'],
  ['{"a":"\\u12"}', "1:7", "an escape of JSON", '"\\u"'],
  ['{"a":"Rex', "1:10", "the closing quotation mark of a string", "the end of the body"],
  ['{"a":"\\"}', "1:10", "the closing quotation mark of a string", "the end of the body"],
  ["{}{}", "1:3", "the end of the body", '"{"'],
  ["{}}", "1:3", "the end of the body", '"}"'],
  ["\ufeff{}", "1:1", "a JSON object", "U+FEFF"],
  ["\u00a0{}", "1:1", "a JSON object", "U+00A0"],
  ["// Rex\n{}", "1:1", "a JSON object", '"/"'],
  ["", "1:1", "a JSON object", "the end of the body"],
  ['{"a":pets_0123}', "1:6", "a value", '"p"'],
];

for (const [text, at, expected, found] of FAULTS) {
  Deno.test(`findJsonFault() locates the fault of ${JSON.stringify(text)}`, () => {
    assertThrows(() => JSON.parse(text), SyntaxError);
    const [line, column] = at.split(":").map(Number);
    assertEquals(findJsonFault(text), { line, column, expected, found });
  });
}

Deno.test("findJsonFault() finds a fault exactly if JSON.parse() does", () => {
  let seed = 1;
  const random = (limit: number) => {
    seed = Math.imul(seed, 48_271) >>> 0;
    return Math.floor(seed / 2 ** 32 * limit);
  };
  const inserted = [..."{}[]\",:\\ \n0-.eEtu'\u0000é", "true", "null", "\\u00e9", '"a"', "🐈"];
  let faulty = 0;
  for (let round = 0; round < 20_000; round++) {
    let text = VALID[random(VALID.length)];
    for (let edits = random(4); edits > 0; edits--) {
      const at = random(text.length + 1);
      text = text.slice(0, at) + inserted[random(inserted.length)] + text.slice(at + random(3));
    }
    const isFaulty = findJsonFault(text) !== undefined;
    assertEquals(isFaulty, !isJson(text), JSON.stringify(text));
    if (isFaulty) faulty++;
  }
  assertEquals(faulty > 5_000 && faulty < 19_000, true, `${faulty} faulty texts`);
});

Deno.test("findJsonFault() follows any depth and a long string", () => {
  assertEquals(findJsonFault("[".repeat(60_000))?.column, 60_001);
  assertEquals(findJsonFault(`"${"\\n".repeat(30_000)}`)?.column, 60_002);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
