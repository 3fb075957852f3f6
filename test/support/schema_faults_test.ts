import { assertEquals, assertThrows } from "@std/assert";
import { type Schema, schemaFaults } from "./schema_faults.ts";

const DOCUMENT = {
  schemas: {
    Pet: {
      type: "object",
      properties: {
        name: { type: "string", minLength: 1, maxLength: 2, pattern: "^[^x]*$" },
        id: { type: "integer", format: "int64", minimum: 1, maximum: 9 },
        status: { enum: ["sold"], description: "where it is" },
        kind: { const: "dog" },
        age: { type: "integer", format: "int32" },
        home: { type: "string", format: "uri" },
      },
      required: ["name"],
      additionalProperties: false,
    },
  },
};
const PETS: Schema = { type: "array", items: { $ref: "#/schemas/Pet" }, maxItems: 1 };

const CASES: [unknown, string[]][] = [
  [[], []],
  [[{ name: "😀😀", id: 9, status: "sold", kind: "dog" }], []],
  [{}, ['value does not match type: "array"']],
  [null, ['value does not match type: "array"']],
  [[[]], ['value[0] does not match type: "object"']],
  [[{}], ['value[0] does not match required: ["name"]']],
  [[{ name: "a", age: 1, home: "https://a.example/" }], []],
  [[{ name: "a", age: "1" }], ['value[0].age does not match type: "integer"']],
  [[{ name: "a", home: "/a" }], ['value[0].home does not match format: "uri"']],
  [[{ name: "a", size: 1 }], ["value[0] does not match additionalProperties: false"]],
  [[{ name: 1 }], ['value[0].name does not match type: "string"']],
  [[{ name: "" }], ["value[0].name does not match minLength: 1"]],
  [[{ name: "abc" }], ["value[0].name does not match maxLength: 2"]],
  [[{ name: "x" }], ['value[0].name does not match pattern: "^[^x]*$"']],
  [[{ name: "a", id: 1.5 }], ['value[0].id does not match type: "integer"']],
  [[{ name: "a", id: 0 }], ["value[0].id does not match minimum: 1"]],
  [[{ name: "a", id: 10 }], ["value[0].id does not match maximum: 9"]],
  [[{ name: "a", status: "lost" }], ['value[0].status does not match enum: ["sold"]']],
  [[{ name: "a", kind: "cat" }], ['value[0].kind does not match const: "dog"']],
  [[{ name: "a" }, { name: "b" }], ["value does not match maxItems: 1"]],
];

Deno.test("schemaFaults() finds a breach of every keyword, and only that", () => {
  for (const [value, faults] of CASES) {
    assertEquals([...schemaFaults(DOCUMENT, PETS, value)], faults, JSON.stringify(value));
  }
});

Deno.test("schemaFaults() throws at a keyword that it does not know, and at a reference to nothing", () => {
  const check = (schema: Schema) => () => [...schemaFaults(DOCUMENT, schema, 1)];
  assertThrows(check({ multipleOf: 2 }), Error, "multipleOf");
  assertThrows(check({ $ref: "#/schemas/Cat" }), Error, "#/schemas/Cat");
});
