import { assertEquals, assertGreater } from "@std/assert";
import { INT64_MAX, INT64_MIN, parseExactJson } from "../../src/encoding/int64.ts";
import {
  categoryIdIn,
  encodePet,
  fieldsByCheck,
  NAME_MAX_LENGTH,
  NEW_PET_CHECK,
  NewPet,
  PATCH_CHECK,
  patchPet,
  Pet,
  PET_CHECK,
  PetPatch,
  reversePatch,
  statusIn,
} from "../../events/pet.ts";

Deno.test("categoryIdIn() and statusIn() find both in a text, and nothing that looks like them", () => {
  const names = ["Rex", ',"categoryId":7,', '"categoryId":12}', ',"status":"pending"', "a,"];
  for (const name of names) {
    for (const categoryId of [1n, 12n, -1n, 123n]) {
      for (const status of ["sold", undefined] as const) {
        const text = encodePet({ id: 1, name, categoryId, status });
        assertEquals(categoryIdIn(text), String(categoryId), text);
        assertEquals(statusIn(text), status, text);
      }
    }
  }
});

Deno.test("patchPet() and reversePatch() lead from a pet to another and back", () => {
  const before: Pet = { id: 7, name: "Rex", categoryId: 1n, status: "available" };
  const patches: [patch: PetPatch, after: Omit<Pet, "id">, previous: PetPatch][] = [
    [{ status: "sold" }, { ...before, status: "sold" }, { status: "available" }],
    [{ status: null }, { name: "Rex", categoryId: 1n }, { status: "available" }],
    [{ name: "Max", categoryId: 1n }, { ...before, name: "Max" }, { name: "Rex" }],
    [{ name: "Rex" }, before, {}],
    [{}, before, {}],
  ];
  for (const [patch, after, previous] of patches) {
    const patched = patchPet(before, patch);
    assertEquals(patched, { id: 7, ...after });
    assertEquals(reversePatch(before, patched), previous);
    assertEquals(patchPet(patched, previous), before);
  }
  const { status: _, ...without } = before;
  assertEquals(reversePatch(without, before), { status: null });
});

/** The JSON texts of members, each with one that is left out. */
const TEXTS_OF_MEMBERS: Record<string, (string | undefined)[]> = {
  id: [undefined, "1", "0", "-1", "1.5", "9007199254740991", "9007199254740993", '"1"', "null"],
  name: [
    ...[undefined, '"Rex"', '""', '"\\ud83d"', '"🐈"', "1", "null", "{}", '["Rex"]'],
    ...["x", "🐈", "🐈🐈"].map((text) => `"${text.repeat(NAME_MAX_LENGTH)}"`),
    `"${"x".repeat(NAME_MAX_LENGTH + 1)}"`,
  ],
  categoryId: [
    ...[undefined, "7", "-7", "0", "-0", "7.5", '"7"', "null", "true", "9007199254740992", "1e30"],
    ...[INT64_MIN, INT64_MAX, INT64_MAX + 1n].map(String),
  ],
  status: [undefined, '"sold"', '"lost"', '""', "null", "1", '["sold"]'],
  colour: [undefined, '"red"'],
  ["__proto__"]: [undefined, "{}"],
};

/** All objects with one of the texts of each member. */
function* textsOfObjects(members = Object.entries(TEXTS_OF_MEMBERS)): Generator<string[]> {
  const [first, ...others] = members;
  if (first === undefined) {
    yield [];
    return;
  }
  const [name, texts] = first;
  for (const rest of textsOfObjects(others)) {
    for (const text of texts) yield text === undefined ? rest : [`"${name}":${text}`, ...rest];
  }
}

for (
  const [name, schema, check, ordinary] of [
    ["NewPet", NewPet, NEW_PET_CHECK, '{"name":"Rex","categoryId":7,"status":"sold"}'],
    ["Pet", Pet, PET_CHECK, '{"id":1,"name":"Rex","categoryId":7}'],
    ["PetPatch", PetPatch, PATCH_CHECK, '{"categoryId":7,"status":null}'],
  ] as const
) {
  Deno.test(`the fast check of ${name} accepts nothing that the schema refuses, and gives the same fields`, () => {
    let accepted = 0;
    for (const members of textsOfObjects()) {
      const text = `{${members.join()}}`;
      const fields = fieldsByCheck(JSON.parse(text), check);
      if (fields === undefined) continue;
      accepted++;
      assertEquals<object | undefined>(fields, schema.safeParse(parseExactJson(text)).data, text);
    }
    assertGreater(accepted, 8);
    // Otherwise, the hot paths would be slow.
    const fields = fieldsByCheck(JSON.parse(ordinary), check);
    assertEquals<object | undefined>(fields, schema.parse(parseExactJson(ordinary)));
  });
}
