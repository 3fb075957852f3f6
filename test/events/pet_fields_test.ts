/** Follows every field of NewPet from a request through the log and back, so that no field is dropped. */

import { audit, replay, restore, verifyExport } from "../support/tools.ts";
import { parseExactJson } from "eventstore-less/int64";
import { APPLICATION } from "../../src/application.ts";
import { assert, assertEquals } from "@std/assert";
import { z } from "zod";
import { NewPet, Pet } from "../../events/pet.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { petReaderOf } from "../support/pet_reader_of.ts";
import { DESCRIPTION } from "../support/assert_described.ts";
import { linesToBytes } from "../support/sample_log.ts";
import { readLogLines } from "../support/sound_log.ts";
import { sampleValuesOf } from "../support/sample_values.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const FIELDS = Object.entries<z.ZodType>(NewPet.shape);
const OPTIONAL = FIELDS.filter(([, schema]) => schema instanceof z.ZodOptional);

/** A pet with its required fields, one with each optional field, and one with all fields. */
const PETS = [[], ...OPTIONAL.map((field) => [field]), OPTIONAL].map(samplePet);

function samplePet(optional: [string, z.ZodType][]): Record<string, unknown> {
  const fields = FIELDS.filter((field) => !OPTIONAL.includes(field) || optional.includes(field));
  return Object.fromEntries(fields.map(([name, schema]) => {
    return [name, sampleValuesOf(schema, name)[0]];
  }));
}

Deno.test("every field of NewPet is returned, changed, removed, listed, logged, audited, replayed and restored", async () => {
  await using service = await openTestService();
  const pets = [];
  for (const [index, pet] of PETS.entries()) {
    const created = await service.add(jsonOf(pet));
    assertEquals(created.status, 201);
    pets.push({ id: BigInt(index + 1), ...pet });
    assertEquals(parseExactJson(await created.text()), pets.at(-1));
  }
  const added = [...pets];
  // The first pet gets the optional fields, and the last one loses them.
  const values = Object.fromEntries(OPTIONAL.map(([name]) => [name, PETS.at(-1)![name]]));
  const nulls = Object.fromEntries(OPTIONAL.map(([name]) => [name, null]));
  for (const [index, patch, after] of [[0, values, PETS.at(-1)], [-1, nulls, PETS[0]]] as const) {
    const { id }: { id: bigint } = pets.at(index)!;
    const changed = await service.change(Number(id), jsonOf(patch));
    pets[Number(id) - 1] = { id, ...after };
    assertEquals(parseExactJson(await changed.text()), { id, ...after });
  }
  await assertServed(service, pets);

  const lines = await readLogLines(service.store);
  const events = lines.map((line) => parseExactJson(line) as { type: string; data: unknown });
  const logged = events.filter(({ type }) => type.startsWith("Pet")).map(({ data }) => data);
  const changes = [{ ...pets[0], previous: nulls }, { ...pets.at(-1), previous: values }];
  assertEquals(logged, [...added, ...changes]);
  assertEquals((await audit(service)).faults, []);

  await replay(service, { graceMs: 0 });
  assertEquals((await audit(service)).faults, []);
  await assertServed(service, pets);

  const store = await SqliteStore.open(":memory:");
  try {
    const source = () => ReadableStream.from([linesToBytes(lines)]);
    const { runtime } = service;
    await restore({ store, runtime }, source, await verifyExport(source));
    assertEquals(await readLogLines(store), lines);
    assertEquals((await audit({ store, runtime })).faults, []);
    const { text } = await petReaderOf(store).list(
      { limit: 100 },
      await readHead(APPLICATION, store),
    );
    assertEquals(parseExactJson(text), pets.toReversed());
  } finally {
    store.close();
  }
});

Deno.test("every field of NewPet is described, in NewPet, PetPatch and Pet", () => {
  const { PetInput: newPet, PetPatch: patch, Pet: pet } = DESCRIPTION.components.schemas;
  const names = FIELDS.map(([name]) => name);
  for (const { properties } of [newPet, patch]) assertEquals(Object.keys(properties), names);
  const ofRemoved = ["removedAt", "etag"];
  assertEquals(Object.keys(pet.properties), [...Object.keys(Pet.shape), ...ofRemoved]);
  for (const [name, schema] of Object.entries({ ...newPet.properties, ...pet.properties })) {
    assert("description" in schema || "$ref" in schema, `Field ${name} has no description`);
  }
});

testNeeding(permissions("read"))("section 2 of src/http/README.md lists every field", async () => {
  const readme = await Deno.readTextFile(new URL("../../src/http/README.md", import.meta.url));
  const [section] = /## 2\. [^]*?(?=\n## 3\.)/.exec(readme)!;
  const rows = section.matchAll(
    /^\| `(\w+)` +\|.*?\| (–|required|optional) +\| (always|if set) +\|/gm,
  );
  const presence = (schema: z.ZodType, whenRequired: string, whenOptional: string) => {
    return schema instanceof z.ZodOptional ? whenOptional : whenRequired;
  };
  const expected = Object.entries<z.ZodType>(Pet.shape).map(([name, schema]) => {
    const sent = Object.hasOwn(NewPet.shape, name) ? presence(schema, "required", "optional") : "–";
    return [name, sent, presence(schema, "always", "if set")];
  });
  assertEquals(Array.from(rows, ([, ...cells]) => cells), expected);
});

async function assertServed({ send }: TestService, pets: { id: bigint }[]): Promise<void> {
  for (const pet of pets) {
    const response = await send(`/v1/pets/${pet.id}`);
    assertEquals(parseExactJson(await response.text()), pet);
  }
  const list = await send("/v1/pets?limit=100");
  assertEquals(parseExactJson(await list.text()), pets.toReversed());
}

function jsonOf(pet: Record<string, unknown>): string {
  const exact = (value: unknown) => typeof value === "bigint" ? rawJson(String(value)) : value;
  return JSON.stringify(pet, (_name, value) => exact(value));
}

// TypeScript does not declare rawJSON yet (https://github.com/tc39/proposal-json-parse-with-source).
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };
