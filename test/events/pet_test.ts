import { assertEquals } from "@std/assert";
import { INT64_MAX, INT64_MIN, parseExactJson } from "../../events/int64.ts";
import { NAME_MAX_LENGTH, NewPet, Pet, petText } from "../../events/pet.ts";

Deno.test("petText() is the JSON of a pet, exact and in one order", () => {
  const pet: Pet = { status: "sold", categoryId: INT64_MAX, name: 'R"ex\n🐈', id: 7 };
  const text = petText(pet);
  assertEquals(
    text,
    '{"id":7,"name":"R\\"ex\\n🐈","categoryId":9223372036854775807,"status":"sold"}',
  );
  assertEquals(Pet.parse(parseExactJson(text)), pet);
});

Deno.test("petText() leaves out a status that a pet does not have", () => {
  assertEquals(
    petText({ id: 1, name: "Rex", categoryId: INT64_MIN }),
    '{"id":1,"name":"Rex","categoryId":-9223372036854775808}',
  );
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

Deno.test("Pet has an id that every JSON client can hold", () => {
  const isValid = (id: bigint) => Pet.safeParse({ id, name: "Rex", categoryId: 1n }).success;
  assertEquals(isValid(1n), true);
  assertEquals(isValid(BigInt(Number.MAX_SAFE_INTEGER)), true);
  for (const id of [0n, -1n, BigInt(Number.MAX_SAFE_INTEGER) + 1n]) {
    assertEquals(isValid(id), false);
  }
});
