import { projectionKey } from "../../src/keyspace.ts";
import { scan } from "../../src/store/scan.ts";
import type { Store } from "../../src/store/store.ts";

/** The texts of the records of a generation by their keys, which do not name the generation. */
export async function contentOfGeneration(
  store: Store,
  generation: number,
): Promise<Record<string, string>> {
  const entries = await Array.fromAsync(scan(store, { prefix: projectionKey(generation, []) }));
  return Object.fromEntries(
    entries.flat().map(({ key, value }) => {
      return [JSON.stringify(key.slice(2)), new TextDecoder().decode(value as Uint8Array)];
    }),
  );
}
