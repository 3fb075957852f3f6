import type { Pet } from "../../../events/pet.ts";
import { type Reply, request } from "./api.ts";

const PAGE_LENGTH = 100;

/** Resolves to all animals of a category. `onRead` is called with the number of those that have come. */
export async function readCategory(id: bigint, onRead: (count: number) => void): Promise<Pet[]> {
  const pets: Pet[] = [];
  let path: string | undefined = `pets?categoryId=${id}&limit=${PAGE_LENGTH}`;
  while (path !== undefined) {
    const page: Reply<Pet[]> = await request(path);
    pets.push(...page.body);
    onRead(pets.length);
    path = page.nextPage;
  }
  return pets;
}
