/** Calls the operations with the TypeScript client of openapi-generator, unchanged. */

import { CategoriesApi, Configuration, EventsApi, KeyApi, PetsApi, PetStatus, ResponseError, StatusFilter } from "./generated";

export async function callOperations(basePath: string, accessToken: string): Promise<void> {
  const configuration = new Configuration({ basePath, accessToken });
  const pets = new PetsApi(configuration);
  const petInput = { name: "Zoé", categoryId: Number.MAX_SAFE_INTEGER, status: PetStatus.Sold };
  const pet = await pets.createPet({ petInput, idempotencyKey: "typescript" });
  expect(pet.categoryId === Number.MAX_SAFE_INTEGER, pet);
  const again = await pets.createPet({ petInput, idempotencyKey: "typescript" });
  expect(again.id === pet.id, again);

  const got = await pets.getPet({ petId: pet.id });
  expect(got.name === "Zoé" && got.status === PetStatus.Sold, got);
  const failure: unknown = await pets.getPet({ petId: 1e15 }).catch((error) => error);
  expect(failure instanceof ResponseError && failure.response.status === 404, failure);

  const patched = await pets.updatePet({ petId: pet.id, petPatch: { status: null }, ifMatch: "*" });
  expect(patched.name === "Zoé" && patched.status === undefined, patched);

  const page = await new EventsApi(configuration).listEvents({ since: new Date(0), limit: 1000, status: PetStatus.Sold });
  const { type, data } = page.at(-1)!;
  const previous = data.previous as { status?: PetStatus } | undefined;
  expect(type === "PetUpdated" && previous?.status === PetStatus.Sold, data);

  const key = await new KeyApi(configuration).getKey();
  const [last] = await new EventsApi(configuration).listPetEvents({ petId: pet.id, limit: 1 });
  expect(last.id === page.at(-1)!.id && last.actor === key.id, last);

  const categories = new CategoriesApi(configuration);
  const categoryInput = { name: "Dogs" };
  const named = await categories.nameCategory({ categoryId: 7, categoryInput, idempotencyKey: "name" });
  expect(named.id === 7 && named.name === "Dogs", named);
  const [category] = await categories.listCategories();
  expect(category.id === 7 && category.name === "Dogs", category);
  await categories.removeCategory({ categoryId: 7, ifMatch: "*" });

  const found = await pets.listPets({ limit: 1, name: "ZOÉ", status: StatusFilter.None });
  expect(found[0].id === pet.id, found);
  const [listed] = await pets.listPets({ limit: 1 });
  expect(listed.id === pet.id, listed);
  const ids = [1, pet.id];
  expect((await pets.listPets({ ids })).length === 2, ids);
  await pets.removePet({ petId: pet.id, idempotencyKey: "removal" });
  await pets.removePet({ petId: pet.id, idempotencyKey: "removal" });
  const left = await pets.listPetsRaw({ categoryId: petInput.categoryId });
  expect(left.raw.headers.get("X-Total-Count") === "0", left);
}

function expect(isTrue: boolean, found: unknown): void {
  if (!isTrue) throw new Error(JSON.stringify(found));
}
