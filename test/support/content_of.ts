import { assert, assertEquals } from "@std/assert";
import { petIdOf } from "../../events/pet.ts";
import { unpackLines } from "../../src/encoding/pack_lines.ts";
import { projectionKey } from "../../src/keyspace.ts";
import { scan } from "../../src/store/scan.ts";
import type { Key, Store } from "../../src/store/store.ts";

/**
 * The content of projection records in key order, however their texts are grouped: the packed texts of each
 * projection together, and each other record by its key. Asserts that no two records overlap.
 */
export function contentOf(
  records: readonly { key: Key; value: unknown }[],
): Record<string, string> {
  const content: Record<string, string> = {};
  const lastIds: Record<string, number> = {};
  for (const { key, value } of records) {
    if (!(value instanceof Uint8Array)) {
      const name = JSON.stringify(key);
      assert(!(name in content), `${name} is there twice`);
      content[name] = String(value);
      continue;
    }
    const name = JSON.stringify(key.slice(0, -1));
    const ids = unpackLines(value)!.map(petIdOf);
    assertEquals(ids.at(-1), key.at(-1), `the last pet of ${JSON.stringify(key)}`);
    assertAscending([lastIds[name] ?? 0, ...ids], JSON.stringify(key));
    lastIds[name] = ids.at(-1)!;
    content[name] = (content[name] ?? "") + new TextDecoder().decode(value);
  }
  return content;
}

/** The content of a generation, with keys that do not name the generation. */
export async function contentOfGeneration(
  store: Store,
  generation: number,
): Promise<Record<string, string>> {
  const entries = await Array.fromAsync(scan(store, { prefix: projectionKey(generation, []) }));
  return contentOf(entries.flat().map(({ key, value }) => ({ key: key.slice(2), value })));
}

function assertAscending(ids: readonly number[], record: string): void {
  for (const [index, id] of ids.entries()) {
    assert(index === 0 || id > ids[index - 1], `pet ${id} in ${record} follows a later one`);
  }
}
