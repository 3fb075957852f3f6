/**
 * The layout of the store: every key that the service writes, and nothing else.
 *
 *     ["head"]                                                    the head record, replaced by every commit;
 *                                                                 while a log is restored, the mark of that
 *     ["log", position]                                           the line of an event, as bytes
 *     ["projection", generation, "pet", id]                       pet by id: its JSON text in UTF-8
 *     ["projection", generation, "pet_by_status", status, id]     pets by status, newest last: the same bytes
 *     ["projection", generation, "key_by_token", hash, position]  API key by token: the data of its events
 *     ["projection", generation, "pet_by_idempotency_key", actor, hash, position]
 *                                                                 what an Idempotency-Key made, for a day
 *     ["replay"]                                                  the lease of the replay under way
 *
 * Each record under "projection" is written by one event and never changed, so the order in which the
 * live writer and a replay write them does not matter.
 */

import { PET_STATUSES, type PetStatus } from "../../events/pet.ts";
import type { Mutation } from "./store.ts";

export const HEAD_KEY = ["head"] as const;

/** How the record begins that stands in the head's place until a restore is done. */
const RESTORE_MARK_START = '{"format":"restore"';

export function isRestoreMark(value: unknown): value is string {
  return typeof value === "string" && value.startsWith(RESTORE_MARK_START);
}

export const REPLAY_KEY = ["replay"] as const;

export const LOG_PREFIX = ["log"];

export function logKey(position: number) {
  return ["log", position];
}

/** A place within a projection of any generation. */
export type RecordKey = readonly (string | number)[];

export function projectionKey(generation: number, key: RecordKey) {
  return ["projection", generation, ...key];
}

export function petKey(id: number): RecordKey {
  return ["pet", id];
}

/** Without an id: the prefix of all pets of that status. */
export function petByStatusKey(status: PetStatus, id?: number): RecordKey {
  return id === undefined ? ["pet_by_status", status] : ["pet_by_status", status, id];
}

/** Without a position: the prefix of all that happened to the key of that token. */
export function keyByTokenKey(tokenHash: string, position?: number): RecordKey {
  return position === undefined
    ? ["key_by_token", tokenHash]
    : ["key_by_token", tokenHash, position];
}

/** Without a position: the prefix of all pets that the actor made with that Idempotency-Key. */
export function petByIdempotencyKeyKey(
  actor: string,
  idempotencyKey: string,
  position?: number,
): RecordKey {
  const prefix = ["pet_by_idempotency_key", actor, idempotencyKey];
  return position === undefined ? prefix : [...prefix, position];
}

/** Whether a key can be one of a record: not whether there is such a record. */
export function isRecordKey(key: Deno.KvKey): key is RecordKey {
  const [kind, ...rest] = key;
  const number = rest.pop();
  if (typeof number !== "number" || !Number.isSafeInteger(number) || number < 1) return false;
  switch (kind) {
    case "pet":
      return rest.length === 0;
    case "pet_by_status":
      return rest.length === 1 && (PET_STATUSES as readonly unknown[]).includes(rest[0]);
    case "key_by_token":
      return rest.length === 1 && typeof rest[0] === "string";
    case "pet_by_idempotency_key":
      return rest.length === 2 && rest.every((part) => typeof part === "string");
    default:
      return false;
  }
}

/** The length of a key in bytes as KV counts it, or a little more. */
export function keyBytes(key: Deno.KvKey): number {
  let bytes = 0;
  for (const part of key) bytes += typeof part === "string" ? part.length + 2 : 9;
  return bytes;
}

/** One record of a projection, as project() makes it from one event. */
export interface ProjectionRecord {
  key: RecordKey;
  /** JSON text, that of pets in UTF-8: it is stored and compared as it is, and seldom read as text. */
  value: string | Uint8Array;
  /** From when on the record says nothing any more, in milliseconds since the Unix epoch. */
  expiresAt?: number;
}

/**
 * How much longer than a record says anything the store keeps it, for the clocks of the store, of who
 * wrote it and of who reads it may differ: what the record itself says decides.
 */
const RETENTION_MARGIN_MS = 60 * 60 * 1_000;

/** Whether the store would still have a record that was written when its event was. */
export function isRetained({ expiresAt = Infinity }: ProjectionRecord, now: number): boolean {
  return expiresAt + RETENTION_MARGIN_MS > now;
}

/** What must be written for a record to stand in a generation. */
export function recordMutation(
  generation: number,
  record: ProjectionRecord,
  now: number,
): Mutation {
  const key = projectionKey(generation, record.key);
  if (record.expiresAt === undefined) return { type: "set", key, value: record.value };
  const expireIn = Math.max(1, record.expiresAt + RETENTION_MARGIN_MS - now);
  return { type: "set", key, value: record.value, expireIn };
}
