import { BoundedCache } from "eventstore-less/parts";
import { assertEquals } from "@std/assert";

const lengthOf = (text: string) => text.length;

function textsIn(cache: BoundedCache<string>): (string | undefined)[] {
  return [1, 2, 3].map((key) => cache.get(key));
}

Deno.test("BoundedCache drops its oldest entries: set() makes an entry the newest, replace() keeps its age", () => {
  const cache = new BoundedCache<string>(2);
  cache.set(1, "Rex");
  cache.set(2, "Max");
  cache.set(1, "Rex the dog");
  cache.replace(2, "Max the cat");
  assertEquals(textsIn(cache), ["Rex the dog", "Max the cat", undefined]);
  cache.replace(3, "Mia");
  assertEquals(textsIn(cache), ["Rex the dog", undefined, "Mia"]);
});

Deno.test("BoundedCache counts the size of its entries once, however often they are set, replaced and deleted", () => {
  const cache = new BoundedCache<string>(Infinity, 10, lengthOf);
  for (let time = 0; time < 5; time++) {
    cache.set(1, "Rex");
    cache.replace(1, "Max");
    cache.replace(2, "Mia");
    cache.delete(2);
  }
  cache.replace(2, "1234567");
  assertEquals(textsIn(cache), ["Max", "1234567", undefined]);
  cache.replace(2, "12345678");
  assertEquals(textsIn(cache), [undefined, "12345678", undefined]);
});
