/** Short logs that the service can, or just cannot, have written. All their hashes are correct. */

import { type EventBody, type EventMetadata, OPERATOR } from "../../events/event.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { linesOf, sampleId } from "./sample_log.ts";

export interface History {
  name: string;
  lines: string[];
}

export interface ImpossibleHistory extends History {
  /** The fault of the last line. */
  fault: string;
}

type Event = EventBody & EventMetadata;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const BEGIN_MS = Date.parse("2026-01-01T00:00:00.000Z");

/** The time `ms` milliseconds after the beginning. */
function at(ms: number): string {
  return new Date(BEGIN_MS + ms).toISOString();
}

let ids = 0;

function metadata(ms: number, actor: string): EventMetadata {
  return { id: sampleId(++ids), time: at(ms), actor };
}

interface Key {
  id: string;
  tokenHash: string;
  issued: Event;
}

/** A key that is issued at the beginning. */
function key(expiresAfterMs?: number, isReadOnly = false): Key {
  const issue = metadata(0, OPERATOR);
  const tokenHash = sha256Hex(`token of ${issue.id}`);
  const data = { keyId: issue.id, label: "test", tokenHash };
  const expiry = expiresAfterMs === undefined ? {} : { expiresAt: at(expiresAfterMs) };
  return {
    id: issue.id,
    tokenHash,
    issued: {
      ...issue,
      type: "ApiKeyIssued",
      data: { ...data, ...expiry, ...(isReadOnly ? { readOnly: true } : {}) },
    },
  };
}

function revoked(ms: number, { id: keyId, tokenHash }: Key, effectiveAfterMs = ms): Event {
  const data = { keyId, tokenHash, effectiveAt: at(effectiveAfterMs) };
  return { ...metadata(ms, OPERATOR), type: "ApiKeyRevoked", data };
}

function pet(ms: number, actor: string, id: number, idempotencyKey?: string): Event {
  return {
    ...metadata(ms, actor),
    type: "PetCreated",
    data: { id, name: "Rex", categoryId: 1n },
    ...(idempotencyKey === undefined ? {} : { idempotencyKey: sha256Hex(idempotencyKey) }),
  };
}

const FIRST = key();
const SECOND = key();
const BRIEF = key(HOUR_MS);
const READER = key(undefined, true);
const KEYS = [FIRST.issued, SECOND.issued, BRIEF.issued];

function history(name: string, ...events: Event[]): History {
  return { name, lines: linesOf([...KEYS, ...events]) };
}

function impossible(name: string, fault: string, ...events: Event[]): ImpossibleHistory {
  return { ...history(name, ...events), fault };
}

const LATE_KEY = key();
const MISNAMED = { ...LATE_KEY.issued, id: sampleId(++ids) };
const TWICE = "its Idempotency-Key was used at position 4, less than a day before";

export const IMPOSSIBLE_HISTORIES: ImpossibleHistory[] = [
  impossible(
    "a pet by the operator",
    "its actor is the operator, but only a key adds pets",
    pet(1, OPERATOR, 1),
  ),
  impossible(
    "a pet by a key that is issued nowhere",
    `its actor ${LATE_KEY.id} is not a key that was issued before`,
    pet(1, LATE_KEY.id, 1),
  ),
  impossible(
    "a pet by a key that was revoked, at an earlier time",
    `its actor ${FIRST.id} was revoked before`,
    revoked(MINUTE_MS, FIRST),
    pet(1, FIRST.id, 1),
  ),
  impossible(
    "a pet by a key whose revocation was delayed, at the time when it took effect",
    `its actor ${FIRST.id} was revoked with effect from ${at(HOUR_MS)}`,
    revoked(MINUTE_MS, FIRST, HOUR_MS),
    pet(HOUR_MS, FIRST.id, 1),
  ),
  impossible(
    "a pet by a key that has two delayed revocations, after the earlier one",
    `its actor ${FIRST.id} was revoked with effect from ${at(HOUR_MS)}`,
    revoked(1, FIRST, HOUR_MS),
    revoked(2, FIRST, 2 * HOUR_MS),
    pet(HOUR_MS + 1, FIRST.id, 1),
  ),
  impossible(
    "a pet by a key that was revoked at once after a delayed revocation",
    `its actor ${FIRST.id} was revoked before`,
    revoked(1, FIRST, HOUR_MS),
    revoked(2, FIRST),
    pet(3, FIRST.id, 1),
  ),
  impossible(
    "a pet by a key that may only read",
    `its actor ${READER.id} may only read`,
    READER.issued,
    pet(1, READER.id, 1),
  ),
  impossible(
    "a pet by a key that was expired",
    `its actor ${BRIEF.id} expired at ${at(HOUR_MS)}`,
    pet(HOUR_MS, BRIEF.id, 1),
  ),
  impossible(
    "a key that is issued by a key",
    `its actor is key ${FIRST.id}, but only the operator issues and revokes keys`,
    { ...LATE_KEY.issued, actor: FIRST.id },
  ),
  impossible(
    "a key that is revoked by a key",
    `its actor is key ${FIRST.id}, but only the operator issues and revokes keys`,
    { ...revoked(1, SECOND), actor: FIRST.id },
  ),
  impossible(
    "a key whose id is not that of its event",
    `its keyId ${LATE_KEY.id} is not its id ${MISNAMED.id}`,
    MISNAMED,
  ),
  impossible(
    "an Idempotency-Key that is used twice within its day",
    TWICE,
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(2 * HOUR_MS, FIRST.id, 2),
    pet(HOUR_MS + DAY_MS - 2 * MINUTE_MS, FIRST.id, 3, "once"),
  ),
  impossible(
    "an Idempotency-Key that is used twice at one time",
    TWICE,
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(HOUR_MS, FIRST.id, 2, "once"),
  ),
  impossible(
    "an Idempotency-Key that is used twice, and clocks that differ by as little as clocks do",
    TWICE,
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(HOUR_MS - MINUTE_MS, FIRST.id, 2),
    pet(2 * HOUR_MS, FIRST.id, 3, "once"),
  ),
  impossible(
    "an Idempotency-Key that is used twice after a clock was set back",
    "its Idempotency-Key was used at position 5, less than a day before",
    pet(2 * HOUR_MS, FIRST.id, 1),
    pet(HOUR_MS, FIRST.id, 2, "once"),
    pet(2 * HOUR_MS, FIRST.id, 3, "once"),
  ),
];

export const POSSIBLE_HISTORIES: History[] = [
  history(
    "a pet before a delayed revocation takes effect",
    revoked(MINUTE_MS, FIRST, HOUR_MS),
    pet(HOUR_MS - 1, FIRST.id, 1),
  ),
  history(
    "a pet before the revocation of its key, at a later time by another clock",
    pet(MINUTE_MS, FIRST.id, 1),
    revoked(1, FIRST),
  ),
  history(
    "a pet before the issue of its key by another clock",
    pet(-MINUTE_MS, FIRST.id, 1),
  ),
  history("a pet after the issue of a read-only key", READER.issued, pet(1, FIRST.id, 1)),
  history("a pet before its key expires", pet(HOUR_MS - 1, BRIEF.id, 1)),
  history(
    "an Idempotency-Key that is used again after a day",
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(HOUR_MS + DAY_MS - MINUTE_MS, FIRST.id, 2, "once"),
  ),
  history(
    "an Idempotency-Key that two actors use",
    pet(HOUR_MS, FIRST.id, 1, "once"),
    pet(HOUR_MS, SECOND.id, 2, "once"),
  ),
  history(
    "an Idempotency-Key that is used again when a clock that was ahead is set back",
    pet(3 * DAY_MS, FIRST.id, 1, "once"),
    pet(2 * DAY_MS, FIRST.id, 2),
    pet(3 * DAY_MS + HOUR_MS, FIRST.id, 3, "once"),
  ),
];
