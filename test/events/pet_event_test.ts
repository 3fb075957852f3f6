import { assertEquals } from "@std/assert";
import type { Pet } from "../../events/pet.ts";
import { petAfter, petBefore, type PetEventBody } from "../../events/pet_event.ts";

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
