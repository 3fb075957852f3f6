import { sha256Hex } from "eventstore-less/parts";
import { APPLICATION } from "../../src/application.ts";
import { assertEquals } from "@std/assert";
import { decodeEvent, GENESIS_HASH } from "../../src/eventstore_less/log/event.ts";
import { petAfter } from "../../events/pet_event.ts";
import { isPetEvent } from "../../src/animals/pet_event.ts";
import type { Pet } from "../../events/pet.ts";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { readLog } from "../../src/eventstore_less/log/read_log.ts";
import { checkedContent } from "../../src/eventstore_less/store/checksum.ts";
import { scan } from "../../src/eventstore_less/store/scan.ts";
import type { Key, Store, StoreEntry } from "../../src/eventstore_less/store/store.ts";

/** Asserts that lines are numbered and chained, and pets have the ids 1, 2, 3 … Returns the pets in the end. */
export function assertSoundLog(lines: string[]): Pet[] {
  const pets: (Pet | undefined)[] = [];
  let hash = GENESIS_HASH;
  for (const [index, line] of lines.entries()) {
    const { previoushash, sequence } = JSON.parse(line);
    assertEquals(previoushash, hash);
    assertEquals(sequence, String(index + 1).padStart(16, "0"));
    const event = decodeEvent(APPLICATION, line);
    if (event.type === "PetCreated") assertEquals(event.data.id, pets.length + 1);
    if (isPetEvent(event)) pets[event.data.id - 1] = petAfter(event);
    hash = sha256Hex(line);
  }
  return pets.filter((pet) => pet !== undefined);
}

export async function readLogLines(store: Store): Promise<string[]> {
  const { position } = (await readHead(APPLICATION, store)).head;
  const batches = await Array.fromAsync(readLog(store, { from: 1, to: position }));
  return batches.flat().map(({ line }) => new TextDecoder().decode(line));
}

/** The keys and values of all records. */
export async function recordsOf(store: Store): Promise<[key: Key, value: unknown][]> {
  const entries = (await Array.fromAsync(scan(store, { prefix: [] }))).flat();
  return entries.map(({ key, value }) => [key, value]);
}

/** The contents of the records of a generation by their keys, which do not name the generation. */
export async function contentOfGeneration(store: Store, generation: number) {
  const entries = await Array.fromAsync(scan(store, { prefix: projectionKey(generation, []) }));
  const contentOf = (entry: StoreEntry) => new TextDecoder().decode(checkedContent(entry));
  return Object.fromEntries(
    entries.flat().map((entry) => [JSON.stringify(entry.key.slice(2)), contentOf(entry)]),
  );
}
