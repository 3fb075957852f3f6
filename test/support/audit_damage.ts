/**
 * Damages each record of a store in every way, one at a time, and checks whether the audit finds the damage.
 */

import { assertEquals, assertNotEquals } from "@std/assert";
import { audit } from "../../src/maintenance/audit.ts";
import { keyText } from "../../src/store/key_text.ts";
import { scan } from "../../src/store/scan.ts";
import type { Mutation, Store, StoreEntry } from "../../src/store/store.ts";
import { openSampleStore } from "./sample_store.ts";

const encoder = new TextEncoder();

/** `missed` lists the damages that the audit did not find. */
export async function damageEveryRecord(events: number) {
  using sample = await openSampleStore(events);
  const { store } = sample;
  const entries = (await Array.fromAsync(scan(store, { prefix: [] }))).flat();
  const kinds = new Set(entries.map(({ key }) => key[0] === "projection" ? key[2] : key[0]));
  assertEquals(kinds.size, 6, "the sample has records of all kinds");
  const byName = new Map(entries.map((entry) => [keyText(entry.key), entry]));
  const missed: string[] = [];
  let damages = 0;
  for (const [index, entry] of entries.entries()) {
    const other = entries[(index + 1) % entries.length];
    for (const [name, mutations] of damagesTo(entry, other)) {
      damages++;
      await commit(store, mutations);
      if ((await audit(sample)).sound) missed.push(`${name} ${keyText(entry.key)}`);
      await commit(store, mutations.map(({ key }) => restoring(key, byName.get(keyText(key)))));
    }
  }
  assertEquals((await audit(sample)).sound, true);
  return { damages, records: entries.length, missed };
}

function* damagesTo(entry: StoreEntry, other: StoreEntry): Generator<[string, Mutation[]]> {
  const { key } = entry;
  const value = entry.value as string | Uint8Array;
  yield ["change of", [{ type: "set", key, value: changed(value) }]];
  yield ["other type of", [{ type: "set", key, value: inOtherType(value) }]];
  yield ["deletion of", [{ type: "delete", key }]];
  const last = key.at(-1);
  const copy = [...key.slice(0, -1), typeof last === "number" ? last + 1_000 : `${String(last)}2`];
  yield ["duplicate of", [{ type: "set", key: copy, value }]];
  yield ["swap of", [
    { type: "set", key, value: other.value as string | Uint8Array },
    { type: "set", key: other.key, value },
  ]];
}

/** The value with its last digit changed. */
function changed(value: string | Uint8Array): string | Uint8Array {
  const text = typeof value === "string" ? value : new TextDecoder().decode(value);
  const index = text.search(/[0-9](?=[^0-9]*$)/);
  const other = text[index] === "1" ? "2" : "1";
  const altered = text.slice(0, index) + other + text.slice(index + 1);
  return typeof value === "string" ? altered : encoder.encode(altered);
}

/** The same text in the other type: bytes for a string, a string for bytes. */
function inOtherType(value: string | Uint8Array): string | Uint8Array {
  return typeof value === "string" ? encoder.encode(value) : new TextDecoder().decode(value);
}

function restoring(key: Deno.KvKey, entry: StoreEntry | undefined): Mutation {
  return entry === undefined
    ? { type: "delete", key }
    : { type: "set", key, value: entry.value as string | Uint8Array };
}

async function commit(store: Store, mutations: Mutation[]): Promise<void> {
  assertNotEquals(await store.commit({ checks: [], mutations }), null);
}

if (import.meta.main) {
  const [events = 300] = Deno.args.map(Number);
  const { missed, ...numbers } = await damageEveryRecord(events);
  console.log({ ...numbers, found: numbers.damages - missed.length });
  missed.forEach((damage) => console.log(`missed: ${damage}`));
}
