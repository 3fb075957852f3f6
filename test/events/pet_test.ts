import { assertEquals, assertGreater } from "@std/assert";
import { INT64_MAX, INT64_MIN, parseExactJson } from "../../events/int64.ts";
import {
  decodePet,
  encodePet,
  hasStatus,
  NAME_MAX_LENGTH,
  NewPet,
  Pet,
  PET_STATUSES,
} from "../../events/pet.ts";

Deno.test("encodePet() writes exact JSON with its members in one order", () => {
  const pet: Pet = { status: "sold", categoryId: INT64_MAX, name: 'R"ex\n🐈', id: 7 };
  const text = encodePet(pet);
  assertEquals(
    text,
    '{"id":7,"name":"R\\"ex\\n🐈","categoryId":9223372036854775807,"status":"sold"}',
  );
  assertEquals(Pet.parse(parseExactJson(text)), pet);
});

Deno.test("NewPet counts the characters of a name in code points", () => {
  const isValid = (name: string) => NewPet.safeParse({ name, categoryId: 1n }).success;
  for (const character of ["x", "é", "🐈", "\0"]) {
    assertEquals(isValid(character.repeat(NAME_MAX_LENGTH)), true);
    assertEquals(isValid(character.repeat(NAME_MAX_LENGTH + 1)), false);
  }
  assertEquals(isValid(""), false);
  assertEquals(isValid("\ud83d"), false);
});

Deno.test("Pet accepts only ids that are safe integers in JSON", () => {
  const isValid = (id: bigint) => Pet.safeParse({ id, name: "Rex", categoryId: 1n }).success;
  assertEquals(isValid(1n), true);
  assertEquals(isValid(BigInt(Number.MAX_SAFE_INTEGER)), true);
  for (const id of [0n, -1n, BigInt(Number.MAX_SAFE_INTEGER) + 1n]) {
    assertEquals(isValid(id), false);
  }
});

Deno.test("hasStatus() compares the status of a text, and nothing that looks like one", () => {
  for (const name of ["Rex", ',"status":"sold"', '"status":"sold"}', "a,"]) {
    for (const status of [...PET_STATUSES, undefined]) {
      const text = encodePet({ id: 1, name, categoryId: 1n, status });
      for (const one of PET_STATUSES) assertEquals(hasStatus(text, one), one === status, text);
    }
  }
});

/** The expected result of {@linkcode decodePet}, computed by the schema. */
function petBySchema(text: string): Pet | undefined {
  try {
    const pet = Pet.parse(parseExactJson(text));
    return encodePet(pet) === text ? pet : undefined;
  } catch {
    return undefined;
  }
}

const PETS: Pet[] = [
  { id: 1, name: "Rex", categoryId: 0n },
  { id: 1_234_567, name: 'R"ex\\\n\u2028🐈', categoryId: INT64_MIN, status: "sold" },
  { id: Number.MAX_SAFE_INTEGER, name: "x", categoryId: INT64_MAX, status: "available" },
  { id: 9, name: '","categoryId":7', categoryId: -1n, status: "pending" },
  { id: 10, name: '"', categoryId: 12_345_678_901_234_567n },
  { id: 11, name: "🐈".repeat(NAME_MAX_LENGTH), categoryId: 1n },
];

Deno.test("decodePet() decodes a text of encodePet()", () => {
  for (const pet of PETS) {
    assertEquals(petBySchema(encodePet(pet)), pet);
    assertEquals(decodePet(encodePet(pet)), pet);
  }
});

Deno.test("decodePet() refuses every text that the schema refuses", () => {
  const member = (name: string, value: string) =>
    `{"id":1,"name":"Rex","categoryId":1}`.replace(new RegExp(`("${name}":)[^,}]+`), `$1${value}`);
  const refused = [
    ...["0", "-1", "01", "1.0", "1e1", '"1"', "9007199254740992", "9".repeat(400)]
      .map((value) => member("id", value)),
    ...["9223372036854775808", "-9223372036854775809", "01", "-0", "1.0", "1e1", '"1"', "null"]
      .map((value) => member("categoryId", value)),
    ...['""', "1", "null", '"\\ud83d"', '"\ud83d"', '"\\u0052ex"', '"a\nb"', '"a"b"', '"a","b"']
      .map((value) => member("name", value)),
    ...["x", "🐈"].map((one) => member("name", `"${one.repeat(NAME_MAX_LENGTH + 1)}"`)),
    '{"id":1,"name":"Rex","categoryId":1,"status":"gone"}',
    '{"id":1,"name":"Rex","categoryId":1,"unknown":"red"}',
    '{"id":1,"name":"Rex","name":"Max","categoryId":1}',
    '{"name":"Rex","id":1,"categoryId":1}',
    '{"id":1,"name":"Rex","categoryId":1} ',
    "",
  ];
  for (const text of refused) {
    assertEquals(petBySchema(text), undefined, text);
    assertEquals(decodePet(text), undefined, text);
  }
});

Deno.test("decodePet() agrees with the schema about any text", () => {
  const pieces = ['"', "\\", ",", "0", "1", "9", "-", "{", "}", ":", "e", ".", " ", "\n", "\ud83d"];
  const texts = PETS.slice(0, 5).map(encodePet);
  let accepted = 0;
  for (const text of texts) {
    for (let at = 0; at <= text.length; at++) {
      for (const piece of ["", ...pieces]) {
        for (const length of [0, 1]) {
          const changed = text.slice(0, at) + piece + text.slice(at + length);
          const pet = petBySchema(changed);
          if (pet !== undefined) accepted++;
          assertEquals(decodePet(changed), pet, changed);
        }
      }
    }
  }
  assertGreater(accepted, 100, "some changes make another pet");
});
