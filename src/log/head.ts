/** The head of the log: the record that every append checks and replaces. */

import { z } from "zod";
import { Sha256Hex, Ulid } from "../../events/api_key.ts";
import { assertNever } from "../../events/assert_never.ts";
import {
  GENESIS_HASH,
  isKnownSchema,
  type RecordedEvent,
  schemaVersionOf,
} from "../../events/event.ts";
import { decodeJson, encodeJson } from "../encoding/json.ts";
import { ServiceError } from "../service_error.ts";
import { HEAD_KEY, PET_LISTS, petListOf } from "../keyspace.ts";
import { checkedContent, withChecksum } from "../store/checksum.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { otherVersionReason } from "../store/store_errors.ts";

/** The version of the keyspace that this service reads and writes. Versions 1 to 4 were of earlier releases. */
const STORE_FORMAT = 5;

const Count = z.int().min(0);

const Head = z.strictObject({
  format: z.literal(STORE_FORMAT),
  /** Position of the last event; 0 in an empty log. */
  position: Count,
  /** Id of the newest pet; 0 without pets. */
  lastPetId: Count,
  /** Number of pets in each list. An audit compares them, so a wrong one does not make the store unusable. */
  counts: z.strictObject(Object.fromEntries(PET_LISTS.map((list) => [list, z.int()]))),
  /** SHA-256 (hex) of the last line. */
  lastHash: Sha256Hex,
  /** Position of the last change or removal of a pet; 0 without one. */
  changePosition: Count,
  /** Position of the last API key event; 0 without one. */
  keyPosition: Count,
  /** The highest version of the schema in the log, for each type of its events. */
  schemas: z.record(z.string(), z.int().min(1)),
  /** Generation of the projections that requests read. */
  generation: Count,
  /** The generation that was served before, while it still has records. */
  removing: Count.optional(),
});
export type Head = z.infer<typeof Head>;

/** The record that replaces the head while a log is restored into a store. */
export const RestoreMark = z.strictObject({
  format: z.literal("restore"),
  storeFormat: z.literal(STORE_FORMAT),
  /** Id of the command run that wrote the mark last. */
  run: Ulid,
  /** Position and hash of the last line of the log to restore. */
  position: z.int().min(1),
  lastHash: Sha256Hex,
  /** The last position that the store already has. */
  restored: Count,
});
export type RestoreMark = z.infer<typeof RestoreMark>;

/** A head as read from the store; `versionstamp` is `null` if the store has no head yet. */
export interface HeadEntry {
  head: Head;
  versionstamp: string | null;
}

export const EMPTY_HEAD: Head = {
  format: STORE_FORMAT,
  position: 0,
  lastPetId: 0,
  counts: Object.fromEntries(PET_LISTS.map((list) => [list, 0])),
  lastHash: GENESIS_HASH,
  changePosition: 0,
  keyPosition: 0,
  schemas: {},
  generation: 1,
};

/** Number of pets. Ids have gaps if it is smaller than `lastPetId`. */
export function petCount({ counts }: Head): number {
  return Object.values(counts).reduce((sum, count) => sum + count);
}

/** Reads the head. Rejects as {@linkcode headEntryOf} throws. */
export async function readHead(store: Store): Promise<HeadEntry> {
  return headEntryOf(await store.get(HEAD_KEY));
}

/** Throws `ForeignStoreError` if this version did not write the record, `store_unavailable` until a restore ends. */
export function headEntryOf(entry: StoreEntry | null): HeadEntry {
  if (entry === null) return { head: EMPTY_HEAD, versionstamp: null };
  const record = decodeHeadRecord(entry.value);
  const code = "store_unavailable";
  switch (record.kind) {
    case "head":
      return { head: record.head, versionstamp: entry.versionstamp };
    case "restore_mark":
      throw new ServiceError(code, "A log is being restored into the store");
    case "other_format":
      throw new ForeignStoreError(code, `The store cannot be used: ${record.message}`);
    case "foreign":
      throw new ForeignStoreError(code, "The head record is damaged, or not one of Animal Store");
    default:
      return assertNever(record);
  }
}

export function encodeHead(head: Head | RestoreMark): Uint8Array {
  return withChecksum(HEAD_KEY, encodeJson(head));
}

/** The head after one more event, whose line has that SHA-256 (hex). */
export function headAfter(head: Head, event: RecordedEvent, lastHash: string): Head {
  const { type, position } = event;
  const next = { ...head, position, lastHash };
  const version = schemaVersionOf(event);
  if ((head.schemas[type] ?? 0) < version) next.schemas = { ...head.schemas, [type]: version };
  switch (type) {
    case "PetCreated": {
      const list = petListOf(event.data.status);
      next.lastPetId = event.data.id;
      next.counts = { ...head.counts, [list]: head.counts[list] + 1 };
      return next;
    }
    case "PetUpdated": {
      const { status, previous } = event.data;
      next.changePosition = position;
      if (previous.status === undefined) return next;
      const [from, to] = [petListOf(previous.status), petListOf(status)];
      next.counts = { ...head.counts, [from]: head.counts[from] - 1, [to]: head.counts[to] + 1 };
      return next;
    }
    case "PetRemoved": {
      const list = petListOf(event.data.status);
      next.changePosition = position;
      next.counts = { ...head.counts, [list]: head.counts[list] - 1 };
      return next;
    }
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      next.keyPosition = position;
      return next;
    default:
      return assertNever(type);
  }
}

type HeadRecord =
  | { kind: "head"; head: Head }
  | { kind: "restore_mark"; mark: RestoreMark }
  | { kind: "other_format"; message: string }
  | { kind: "foreign" };

/** Recognises a value of {@linkcode HEAD_KEY} by its structure. A message is worded to follow a colon. */
export function decodeHeadRecord(value: unknown): HeadRecord {
  const otherFormat = (message: string): HeadRecord => ({ kind: "other_format", message });
  try {
    const content = checkedContent({ key: HEAD_KEY, value });
    // Earlier formats stored texts, and then texts in UTF-8 without a checksum.
    const record = typeof value === "string" ? JSON.parse(value) : decodeJson(content ?? value);
    const { format, storeFormat } = record;
    if (content === undefined && [format, storeFormat].includes(STORE_FORMAT)) {
      return { kind: "foreign" };
    }
    if (format === "restore" && storeFormat !== STORE_FORMAT) {
      return otherFormat("it holds an unfinished restore of another version; use a new store");
    }
    if (format === "restore") return { kind: "restore_mark", mark: RestoreMark.parse(record) };
    if (Number.isSafeInteger(format) && format !== STORE_FORMAT) {
      return otherFormat(otherVersionReason(`it has format ${format}`, format > STORE_FORMAT));
    }
    const head = Head.parse(record);
    const unknown = Object.entries(head.schemas).find(([type, it]) => !isKnownSchema(type, it));
    if (unknown === undefined) return { kind: "head", head };
    const shown = `its log has events of the schema ${unknown.join(":")}`;
    return otherFormat(otherVersionReason(shown, true));
  } catch {
    return { kind: "foreign" };
  }
}

/** The store was opened, but another program or another version of this one wrote its data. */
export class ForeignStoreError extends ServiceError {}
