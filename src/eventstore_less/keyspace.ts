/** The keys of all records that the service writes to the store. `src/README.md` shows and explains them. */

import { packLines } from "../encoding/pack_lines.ts";
import { type Pet, PET_STATUSES, type PetPatch, type PetStatus } from "../../events/pet.ts";
import { withChecksum } from "./store/checksum.ts";
import type { Key, Mutation, SetMutation } from "./store/store.ts";

/** Maximum size of a log record of several lines, in bytes. Larger records do not make the tools faster. */
export const LOG_RECORD_LIMIT_BYTES = 8_192;

export const HEAD_KEY = ["head"] as const;
export const REPLAY_KEY = ["replay"] as const;

/**
 * Every commit that adds a record also checks and writes one of these; the sweep only deletes. Every answer begins with a
 * read of the first.
 */
export const GUARD_KEYS = [HEAD_KEY, REPLAY_KEY];

/** The tilde sorts the large records of the log after all others, which SQLite searches faster without them. */
export const LOG_PREFIX = ["~log"];

export function logKey(position: number) {
  return [...LOG_PREFIX, position];
}

export function isLogKey(key: Key): key is [string, number] {
  return key.length === 2 && key[0] === LOG_PREFIX[0] && Number.isSafeInteger(key[1]) &&
    key[1] as number >= 1;
}

/** The key of a projection record, without its generation. Without its last number, it is a prefix of such keys. */
export type ProjectionKey = readonly (string | number)[];

export function projectionKey(generation: number, key: ProjectionKey) {
  return ["projection", generation, ...key];
}

/** The lists that hold the pets: one for each status, and one for the pets without a status. */
export const PET_LISTS = [...PET_STATUSES, "none"].sort();

export function petListOf(status: PetStatus | null | undefined): string {
  return status ?? "none";
}

export function petKey(list: string, ...id: number[]) {
  return ["pet", list, ...id];
}

export function petByCategoryKey(categoryId: bigint | null, list: string, ...id: number[]) {
  return ["pet_by_category", String(categoryId), list, ...id];
}

/** The key of the record that a removed pet leaves. */
export function removedPetKey(id: number) {
  return ["removed_pet", id];
}

/** The keys of the records of a pet with some former values. Both records have the same content. */
export function petKeysOf(pet: Pet, former: PetPatch = {}): ProjectionKey[] {
  const { id, categoryId, status } = { ...pet, ...former };
  const list = petListOf(status);
  return [petKey(list, id), petByCategoryKey(categoryId, list, id)];
}

/** The key of the record with what an API key was issued with. It never changes. */
export function issuedKeyKey(tokenHash: string) {
  return ["issued_key", tokenHash];
}

/** The key of the record with the last event of an API key. A key without both records is refused. */
export function keyStateKey(tokenHash: string) {
  return ["key_state", tokenHash];
}

export function eventByIdempotencyKeyKey(actor: string, key: string, ...position: number[]) {
  return ["event_by_idempotency_key", actor, key, ...position];
}

/** The kinds of records, each with the parts of its keys after the kind: some texts, and for most kinds a number. */
const KINDS = {
  pet: { texts: 1, hasNumber: true },
  pet_by_category: { texts: 2, hasNumber: true },
  removed_pet: { texts: 0, hasNumber: true },
  issued_key: { texts: 1, hasNumber: false },
  key_state: { texts: 1, hasNumber: false },
  event_by_idempotency_key: { texts: 2, hasNumber: true },
};
type RecordKind = keyof typeof KINDS;

/** The prefix of the keys of all records of a kind in a generation. */
export function kindPrefix(generation: number, kind: RecordKind) {
  return projectionKey(generation, [kind]);
}

/** Whether a key has the form of a record key. The record itself may not exist. */
export function isProjectionKey(key: Key): key is ProjectionKey {
  const [kind, ...parts] = key;
  if (!isRecordKind(kind)) return false;
  const { texts: textCount, hasNumber } = KINDS[kind];
  if (parts.length !== textCount + Number(hasNumber)) return false;
  const texts = parts.slice(0, textCount);
  if (!texts.every((text) => typeof text === "string")) return false;
  if (isListKind(kind) && !PET_LISTS.includes(texts.at(-1)!)) return false;
  return !hasNumber || isPositiveInteger(parts.at(-1));
}

function isRecordKind(kind: unknown): kind is RecordKind {
  return Object.hasOwn(KINDS, kind as string);
}

function isPositiveInteger(part: unknown): boolean {
  return Number.isSafeInteger(part) && part as number >= 1;
}

/** Whether the key is that of a record of an API key, of which the last event decides. */
export function isApiKeyKind(kind: unknown): boolean {
  return kind === "issued_key" || kind === "key_state";
}

/** Whether the number of a key of that kind is the id of a pet. */
export function isPetKind(kind: unknown): boolean {
  return isListKind(kind) || kind === "removed_pet";
}

/** Whether a record of that kind is in a list of pets. */
function isListKind(kind: unknown): boolean {
  return kind === "pet" || kind === "pet_by_category";
}

/** A record of a projection, made by project(). */
export interface ProjectionRecord {
  key: ProjectionKey;
  /** The value without its checksum: text in UTF-8. Absent if the record is to be removed. */
  content?: Uint8Array;
  /** The time from which the record is no longer valid, in milliseconds since the Unix epoch. */
  expiresAt?: number;
}

/** How long an Idempotency-Key is valid, in milliseconds after the time of its event. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1_000;

/** How long an expired record is kept, because clocks may differ. Its content decides whether it is valid. */
export const RETENTION_MARGIN_MS = 60 * 60 * 1_000;

/** Whether a record that expires at one time is not kept any more at another; both in milliseconds since the Unix epoch. */
export function isOver(expiresAt: number, time: number): boolean {
  return expiresAt + RETENTION_MARGIN_MS <= time;
}

/** The records without those that are over at a time, which must be one of `logTime()`, or earlier. */
export function retainedRecords(
  records: readonly ProjectionRecord[],
  time: number,
): ProjectionRecord[] {
  return records.filter(({ expiresAt = Infinity }) => !isOver(expiresAt, time));
}

/** The mutations that write and remove records of a generation. */
export function projectionMutations(
  generation: number,
  records: readonly ProjectionRecord[],
): Mutation[] {
  return records.map(({ key: recordKey, content }) => {
    const key = projectionKey(generation, recordKey);
    if (content === undefined) return { type: "delete", key };
    return { type: "set", key, value: withChecksum(key, content) };
  });
}

/** Returns the mutations that store lines at the positions from `first` on. */
export function logMutations(first: number, lines: readonly Uint8Array[]): SetMutation[] {
  let last = first - 1;
  return packLines(lines, LOG_RECORD_LIMIT_BYTES).map(({ count, value }) => {
    last += count;
    const key = logKey(last);
    return { type: "set", key, value: withChecksum(key, value) };
  });
}
