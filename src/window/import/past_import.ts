/** An import of the last day, as this browser remembers it: what it did to each animal, but not the animals themselves. */

import type { Pet } from "../../../events/pet.ts";
import { EDITABLE_FIELDS, formatPet, type Patch } from "../data/fields.ts";
import { hashText } from "./hash_text.ts";
import { type Addition, type Entry, idempotencyKeyOf, type Plan } from "./plan.ts";

/** As long as the service knows the Idempotency-Keys of the lines. */
export const REMEMBERED_MS = 24 * 3_600_000;

/** Half of a hash is enough to notice a change. */
const DIGITS_KEPT = 16;

const CHANGED = "Somebody has changed it since";
const REMOVED = "Somebody has removed it since";

export interface PastImport {
  id: string;
  fileName: string;
  /** Milliseconds since the Unix epoch. */
  startedAt: number;
  lines: readonly PastLine[];
}

/** What a line of the file did to an animal. */
export interface PastLine {
  petId: number;
  /** A hash of the animal as the import has left it. */
  after: string;
  /** What the animal had before, if the line has changed it. */
  previous?: Patch;
  /** The Idempotency-Key, if the line has added it. */
  key?: string;
  /** Whether it is undone, or stays because somebody has changed the animal since. */
  end?: "undone" | "kept";
}

export function pastLineOf(entry: Entry, after: Pet): PastLine {
  const line = { petId: after.id, after: hashPet(after) };
  if (entry.kind === "addition") return { ...line, key: idempotencyKeyOf(entry) };
  const { before, patch } = entry;
  const changed = EDITABLE_FIELDS.filter(({ name }) => name in patch);
  const previous = changed.map(({ name }) => [name, before[name] ?? null]);
  return { ...line, previous: Object.fromEntries(previous) };
}

function hashPet(pet: Pet): string {
  return hashText(formatPet(pet)).slice(0, DIGITS_KEPT);
}

/** The lines that can be undone. */
export function openLines({ lines }: PastImport): PastLine[] {
  return lines.filter(({ end }) => end === undefined);
}

/** An animal that stays as it is, and the reason. */
interface Kept {
  pet: Pet;
  why: string;
}

/** Nobody knows the name of an animal that was removed. */
function unseenPet(id: number): Pet {
  return { id, name: `Animal ${id}`, categoryId: 0n };
}

/** What takes back some lines. */
export interface UndoOfLines {
  removals: Pet[];
  changes: { pet: Pet; previous: Patch }[];
  kept: Kept[];
}

/** `pets` has the animals that exist. One that the import added and that is gone needs nothing. */
export function undoOfLines(
  lines: readonly PastLine[],
  pets: ReadonlyMap<number, Pet>,
): UndoOfLines {
  const removals: Pet[] = [];
  const changes: UndoOfLines["changes"] = [];
  const kept: Kept[] = [];
  for (const { petId, after, previous } of lines) {
    const pet = pets.get(petId);
    const isAddition = previous === undefined;
    if (pet === undefined) {
      if (!isAddition) kept.push({ pet: unseenPet(petId), why: REMOVED });
      continue;
    }
    if (hashPet(pet) !== after) kept.push({ pet, why: CHANGED });
    else if (isAddition) removals.push(pet);
    else changes.push({ pet, previous });
  }
  return { removals, changes, kept };
}

/**
 * What is known of additions by their Idempotency-Keys: "" if the animal is there, and the id of the import if that is
 * undone.
 */
export type KnownAdditions = ReadonlyMap<string, string>;

export function knownAdditions(imports: readonly PastImport[]): KnownAdditions {
  const known = new Map<string, string>();
  for (const { id, lines } of imports) {
    for (const { key, end } of lines) {
      if (key !== undefined) known.set(key, end === "undone" ? id : "");
    }
  }
  return known;
}

/** The plan without animals that are there already, and with other keys for those of an import that is undone. */
export function withKnown(plan: Plan, known: KnownAdditions): Plan {
  const entries: Entry[] = [];
  const present: Addition[] = [];
  for (const entry of plan.entries) {
    if (entry.kind === "change") {
      entries.push(entry);
      continue;
    }
    const addition = latestOf(entry, known);
    const isPresent = known.has(idempotencyKeyOf(addition));
    if (isPresent) present.push(addition);
    else entries.push(addition);
  }
  return { ...plan, entries, present };
}

/** The addition as it was sent last, or, after an undo, as it is to be sent again. */
function latestOf(addition: Addition, known: KnownAdditions): Addition {
  let latest = addition;
  for (;;) {
    const again = known.get(idempotencyKeyOf(latest));
    if (again === undefined || again === "") return latest;
    latest = { ...latest, again };
  }
}
