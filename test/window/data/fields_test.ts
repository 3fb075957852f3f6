import { parseExactJson } from "eventstore-less/int64";
import { assert, assertEquals } from "@std/assert";
import { describeInterface } from "../../../src/http/docs/openapi.ts";
import {
  describePet,
  differencesOf,
  EDITABLE_FIELDS,
  faultsOfError,
  type FieldName,
  FIELDS,
  formatPet,
  messageOf,
  parseChange,
  parsePet,
  textsOf,
} from "../../../src/window/data/fields.ts";

interface Schema {
  type?: string;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: bigint;
  maximum?: bigint;
  enum?: string[];
  $ref?: string;
}

// The bounds of int64 are no numbers of JavaScript.
const { schemas } = (parseExactJson(describeInterface()) as {
  components: {
    schemas: Record<string, Schema> & {
      PetInput: { properties: Record<string, Schema>; required: string[] };
      Pet: { properties: Record<string, Schema> };
    };
  };
}).components;

const SCHEMA = schemas.PetInput;

/** The definition of a field in the description, behind its reference. */
function schemaOf(name: string): Schema {
  const schema = SCHEMA.properties[name];
  const referred = schema.$ref?.split("/").at(-1);
  return referred === undefined ? schema : schemas[referred];
}

function fieldOf(name: FieldName) {
  const field = FIELDS.find((it) => it.name === name);
  assert(field);
  return field;
}

const isSound = (name: FieldName, text: string) => fieldOf(name).parse(text).isSound;

Deno.test("FIELDS has the fields that the API describes, in their order", () => {
  const others = ["id", "removedAt", "etag"];
  const names = Object.keys(schemas.Pet.properties).filter((name) => !others.includes(name));
  assertEquals(FIELDS.map(({ name }) => name).toSorted(), names.toSorted());
  assertEquals(EDITABLE_FIELDS.map(({ name }) => name), Object.keys(SCHEMA.properties));
  const required = FIELDS.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  assertEquals(required, SCHEMA.required);
  for (const { name, isRequired } of FIELDS) assertEquals(isSound(name, ""), !isRequired, name);
});

Deno.test("FIELDS accepts what the API describes, up to its bounds and no more", () => {
  let checked = 0;
  for (const { name } of EDITABLE_FIELDS) {
    const { type, format, maxLength, minimum, maximum, enum: values } = schemaOf(name);
    if (values !== undefined) {
      const choices = fieldOf(name).choices?.map(({ text }) => text);
      assertEquals(choices?.filter((text) => text !== ""), values);
      for (const value of values) {
        assertEquals(fieldOf(name).parse(value), { isSound: true, value });
      }
      assert(!isSound(name, "something else"));
      checked++;
    } else if (type === "integer") {
      for (const bound of [minimum!, maximum!]) {
        assertEquals(fieldOf(name).parse(String(bound)), { isSound: true, value: bound });
      }
      assert(!isSound(name, String(minimum! - 1n)));
      assert(!isSound(name, String(maximum! + 1n)));
      checked++;
    } else if (maxLength !== undefined) {
      const limit = Number(maxLength);
      for (const character of ["x", "🐕"]) {
        assert(isSound(name, character.repeat(limit)));
        assert(!isSound(name, character.repeat(limit + 1)));
      }
      checked++;
    } else if (format === "date") {
      assertEquals(fieldOf(name).parse("2024-02-29"), { isSound: true, value: "2024-02-29" });
      for (const text of ["2023-02-29", "29.02.2024", "x"]) assert(!isSound(name, text));
      checked++;
    }
  }
  assertEquals(checked, EDITABLE_FIELDS.length);
});

Deno.test("parsePet() reads what people and programs write", () => {
  const cases: [name: string, category: string, status: string, ...values: unknown[]][] = [
    [" Rex ", " 007 ", "Sold", "Rex", 7n, "sold"],
    ["\u00a0Mia\t", "+8", "", "Mia", 8n, undefined],
    ["a  b", "-1", "no status", "a  b", -1n, undefined],
    ["Zoë\n2", "7.0", " AVAILABLE ", "Zoë\n2", 7n, "available"],
    ["Rex\0Bad", "12.000", "pending", "Rex\0Bad", 12n, "pending"],
    ["🐕", "8,0", "", "🐕", 8n, undefined],
    ["Re\u200bx", "\ufeff8\u200b", "so\u00adld\u200e", "Re\u200bx", 8n, "sold"],
    ["x", "-0", "", "x", 0n, undefined],
  ];
  for (const [name, categoryId, status, ...values] of cases) {
    const parsed = parsePet({ name, categoryId, status });
    assert(parsed.isSound, name);
    assertEquals([parsed.pet.name, parsed.pet.categoryId, parsed.pet.status], values);
  }
});

Deno.test("parsePet() names the faults of each field", () => {
  const faultOf = (name: FieldName, text: string) => {
    const parsed = parsePet({ name: "Rex", categoryId: "7", [name]: text });
    return parsed.isSound ? undefined : parsed.faults[name];
  };
  const names = ["", "  ", "\u200b", "\u00ad\u2060", "\ud800", "x".repeat(1_001)];
  assertEquals(names.map((it) => faultOf("name", it)), [
    "Name is missing",
    "Name is missing",
    "Name has no visible character",
    "Name has no visible character",
    "Name has no visible character",
    "Name has more than 1,000 characters",
  ]);
  assertEquals(faultOf("name", "Rex\udc00"), "Name has a broken character");
  const categories = [
    "",
    "x",
    "7.5",
    "7,000",
    "1e3",
    "1 000",
    "9".repeat(101),
    `-${"9".repeat(20)}`,
  ];
  assertEquals(categories.map((it) => faultOf("categoryId", it)), [
    "Category is missing",
    "There is no category “x”",
    "There is no category “7.5”",
    "There is no category “7,000”",
    "Category is a number that a spreadsheet has rounded: 1e3",
    "There is no category “1 000”",
    "Category is too large",
    "Category is too small",
  ]);
  assertEquals(faultOf("status", "adopted"), "Status must be Available, Pending or Sold");
});

Deno.test("parseChange() has only what differs, and does not check what was not typed", () => {
  const odd = { id: 1, name: " ", categoryId: 2n ** 62n, status: "sold" as const };
  const patchOf = (texts: Parameters<typeof parseChange>[1]) => {
    const parsed = parseChange(odd, texts);
    return parsed.isSound ? parsed.patch : parsed.faults;
  };
  assertEquals(patchOf(textsOf(odd)), {});
  assertEquals(patchOf({}), {});
  assertEquals(patchOf({ categoryId: `${2n ** 62n}.0`, status: "SOLD" }), {});
  assertEquals(patchOf({ ...textsOf(odd), status: "" }), { status: null });
  assertEquals(patchOf({ name: "Rex", status: "pending" }), { name: "Rex", status: "pending" });
  assertEquals(patchOf({ name: "\u200b", categoryId: "x" }), {
    name: "Name has no visible character",
    categoryId: "There is no category “x”",
  });
});

Deno.test("formatPet() writes what the API reads", () => {
  const pet = { name: 'a "b"', categoryId: 2n ** 63n - 1n, status: undefined };
  assertEquals(formatPet(pet), '{"name":"a \\"b\\"","categoryId":9223372036854775807}');
  assertEquals(formatPet({ status: null }), '{"status":null}');
});

Deno.test("fields say what an animal is, and what changed", () => {
  assertEquals(describePet({ name: "Rex", categoryId: 7n }), "category 7, no status");
  const after = { id: 1, name: "Rex", categoryId: 7n, status: "sold" as const };
  const changes = differencesOf(after, { status: null, categoryId: 8n });
  assertEquals(changes.map(({ field, before, after }) => [field.label, before, after]), [
    ["Category", 8n, 7n],
    ["Status", undefined, "sold"],
  ]);
  const sentences = changes.map(({ field, after }) => field.sentence(after));
  assertEquals(sentences, ["moved to category 7", "was sold"]);
});

Deno.test("errors of the API name fields as the page does", () => {
  const message = 'Field "categoryId" must be small; Field "colour" is unknown';
  assertEquals(faultsOfError({ code: "invalid_body", message }), {
    categoryId: "Category must be small",
  });
  assertEquals(faultsOfError({ code: "not_found", message }), {});
  assertEquals(messageOf({ message }), 'Category must be small; Field "colour" is unknown');
  const sentence = 'Parameter "categoryId" or categoryId, of "petId", in someOther';
  assertEquals(
    messageOf({ message: sentence }),
    'Parameter Category or Category, of "petId", in someOther',
  );
});
