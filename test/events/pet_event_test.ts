import { assertEquals, assertStringIncludes } from "@std/assert";
import type { Pet } from "../../events/pet.ts";
import { PET_EVENT_TYPES, petAfter, petBefore, type PetEventBody } from "../../events/pet_event.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";

const REX: Pet = { id: 7, name: "Rex", categoryId: 1n, status: "sold" };

Deno.test("petBefore() and petAfter() are the whole pet, without what else an event says", () => {
  const previous = { name: "Max", status: null };
  const before: Pet = { id: 7, name: "Max", categoryId: 1n };
  const own = { by: "Ann" };
  const cases: [event: PetEventBody, before: Pet | undefined, after: Pet | undefined][] = [
    [{ type: "PetCreated", data: { ...REX, ...own } }, undefined, REX],
    [{ type: "PetUpdated", data: { ...REX, ...own, previous } }, before, REX],
    [{ type: "PetRemoved", data: { ...REX, ...own } }, REX, undefined],
  ];
  for (const [event, ...pets] of cases) {
    assertEquals([petBefore(event), petAfter(event)], pets, event.type);
  }
});

testNeeding(permissions("read"))(
  "the manual and the guide of the feed name each type",
  async () => {
    const manual = await Deno.readTextFile(new URL("../../src/http/README.md", import.meta.url));
    const guides = await Deno.readTextFile(
      new URL("../../src/http/docs/guides.md", import.meta.url),
    );
    for (const type of PET_EVENT_TYPES) assertStringIncludes(manual, `\`${type}\``);
    const types = PET_EVENT_TYPES.map((type) => `"${type}"`).join(", ");
    assertStringIncludes(guides, `for (const type of [${types}]) {`);
  },
);
