/**
 * The keyspace: all keys that the service writes to the store.
 *
 *     ["head"]                                                    the head, replaced by every append;
 *                                                                 during a restore, the restore mark
 *     ["projection", generation, "pet", last id]                  JSON texts of pets with consecutive ids,
 *                                                                 in UTF-8, each with a line feed
 *     ["projection", generation, "pet_by_status", status, last id]
 *                                                                 the same texts for pets of a status
 *     ["projection", generation, "key_by_token", hash, position]  API key by token: the data of its events
 *     ["projection", generation, "pet_by_idempotency_key", actor, hash, position]
 *                                                                 pet by Idempotency-Key, for a day
 *     ["replay"]                                                  the lease of the running replay
 *     ["~log", last position]                                     lines of events, each with a line feed
 *
 * A commit packs the lines of its events, and the pets that it adds for each projection, into as few records
 * as possible within the limits below. The key of such a record is its last position or id, so a list from N
 * begins with the record that holds N. Records are never changed, so the order in
 * which the live writer and a replay write them does not matter.
 */

import { packLines } from "./encoding/pack_lines.ts";
import { PET_STATUSES, type PetStatus } from "../events/pet.ts";
import type { Key, Mutation, SetMutation } from "./store/store.ts";

/** Maximum size of a log record of several lines, in bytes. Larger records do not make the tools faster. */
export const LOG_RECORD_LIMIT_BYTES = 8_192;

/**
 * Maximum size of a projection record of several pets, in bytes. To find a key, SQLite reads each record that
 * it compares with the key, and further pages of it beyond some 1,000 bytes. With records of 8 KiB, a read of
 * the head took four times as long.
 */
export const PETS_RECORD_LIMIT_BYTES = 900;

export const HEAD_KEY = ["head"] as const;

export const REPLAY_KEY = ["replay"] as const;

/** Every commit checks and writes one of these records. A read of the first begins every answer. */
export const GUARD_KEYS = [HEAD_KEY, REPLAY_KEY];

/**
 * The tilde sorts the log after all other records. Large records next to the head make each read of the head
 * slower, because SQLite reads records on its way to a key.
 */
export const LOG_PREFIX = ["~log"];

export function logKey(position: number) {
  return [...LOG_PREFIX, position];
}

export function isLogKey(key: Key): key is [string, number] {
  return key.length === 2 && key[0] === LOG_PREFIX[0] && Number.isSafeInteger(key[1]) &&
    key[1] as number >= 1;
}

/** The key of a projection record, without its generation. */
export type ProjectionKey = readonly (string | number)[];

export function projectionKey(generation: number, key: ProjectionKey) {
  return ["projection", generation, ...key];
}

/** Without an id: the prefix of all pets. */
export function petKey(id?: number): ProjectionKey {
  return id === undefined ? ["pet"] : ["pet", id];
}

/** Without an id: the prefix of all pets with that status. */
export function petByStatusKey(status: PetStatus, id?: number): ProjectionKey {
  return id === undefined ? ["pet_by_status", status] : ["pet_by_status", status, id];
}

/** Without a position: the prefix of all records of the API key with that token. */
export function keyByTokenKey(tokenHash: string, position?: number): ProjectionKey {
  return position === undefined
    ? ["key_by_token", tokenHash]
    : ["key_by_token", tokenHash, position];
}

/** Without a position: the prefix of all pets that the actor created with that Idempotency-Key. */
export function petByIdempotencyKeyKey(
  actor: string,
  idempotencyKey: string,
  position?: number,
): ProjectionKey {
  const prefix = ["pet_by_idempotency_key", actor, idempotencyKey];
  return position === undefined ? prefix : [...prefix, position];
}

/** The key of a record of an Idempotency-Key, up to its generation and its kind. */
export const SOME_IDEMPOTENCY_KEY = projectionKey(1, petByIdempotencyKeyKey("", "")).slice(0, 3);

/** Whether a key has the form of a record key. The record itself may not exist. */
export function isProjectionKey(key: Key): key is ProjectionKey {
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

/** A record of a projection, made by project(). */
export interface ProjectionRecord {
  key: ProjectionKey;
  /** JSON; the texts of pets are packed lines in UTF-8. */
  value: string | Uint8Array;
  /** The time from which the record is no longer valid, in milliseconds since the Unix epoch. */
  expiresAt?: number;
}

/** How long an Idempotency-Key is valid, in milliseconds after the time of its event. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1_000;

/**
 * How long the store keeps a record after the record has expired, because the clocks of the store, the
 * writer and the reader may differ. The content of the record decides whether it is still valid.
 */
const RETENTION_MARGIN_MS = 60 * 60 * 1_000;

/** Whether the store would still have this record if it was written together with its event. */
export function isRetained({ expiresAt = Infinity }: ProjectionRecord, now: number): boolean {
  return expiresAt + RETENTION_MARGIN_MS > now;
}

/** Returns the mutation that writes a record to a generation. */
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

/** Stores lines as one record. */
export type LogMutation = SetMutation & { value: Uint8Array };

/** Returns the mutations that store lines at the positions from `first` on. */
export function logMutations(first: number, lines: readonly Uint8Array[]): LogMutation[] {
  let last = first - 1;
  return packLines(lines, LOG_RECORD_LIMIT_BYTES).map(({ count, value }) => {
    last += count;
    return { type: "set", key: logKey(last), value };
  });
}
