/** The head of the log: the record that every append checks and replaces. */

import { type Application, compareVersions } from "../application.ts";
import type { Counts, Head, RecordedEvent } from "../definitions.ts";
import { z } from "zod";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import { assertNever } from "../encoding/assert_never.ts";
import { decodeJson, encodeJson } from "../encoding/json.ts";
import { Sha256Hex, Ulid } from "../encoding/text_forms.ts";
import { HEAD_KEY } from "../keyspace.ts";
import { ServiceError } from "../service_error.ts";
import { checkedContent, withChecksum } from "../store/checksum.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { olderFormatReason } from "../store/store_errors.ts";
import { GENESIS_HASH, isKnownSchema, isLaterSchema, schemaOf, schemaVersionOf } from "./event.ts";
import { STORE_FORMAT, UPGRADED_FORMAT } from "./store_format.ts";
import { earlierHead, upgradedHead } from "./upgraded_head.ts";

const Count = z.int().min(0);

const TypeSummary = z.strictObject({
  version: z.string(),
  count: z.int().min(1),
  last: z.int().min(1),
});

/** The head as it is stored: with the format and the application, by which others recognise the store. */
const HeadRecord = z.strictObject({
  format: z.literal(STORE_FORMAT),
  application: z.string(),
  position: Count,
  lastHash: Sha256Hex,
  types: z.record(z.string(), TypeSummary),
  counts: z.record(z.string(), z.record(z.string(), z.int())),
  generation: Count,
}) satisfies z.ZodType<Head>;

/** The record that replaces the head while a log is restored into a store. */
export interface RestoreMark {
  format: "restore";
  storeFormat: typeof STORE_FORMAT;
  /** Id of the command run that wrote the mark last. */
  run: string;
  /** Position and hash of the last line of the log to restore. */
  position: number;
  lastHash: string;
  /** The last position that the store already has. */
  restored: number;
}

const RestoreMark = z.strictObject({
  format: z.literal("restore"),
  storeFormat: z.literal(STORE_FORMAT),
  run: Ulid,
  position: z.int().min(1),
  lastHash: Sha256Hex,
  restored: Count,
}) satisfies z.ZodType<RestoreMark>;

/** A head as read from the store; `versionstamp` is `null` if the store has no head yet. */
export interface HeadEntry {
  /** The head. It is empty if the store has none yet. */
  head: Head;
  /** The version that a commit checks. */
  versionstamp: string | null;
}

/** The head of a log without events. */
export const EMPTY_HEAD: Head = {
  position: 0,
  lastHash: GENESIS_HASH,
  types: {},
  counts: {},
  generation: 1,
};

/** Reads the head. Rejects as {@linkcode headEntryOf} throws. */
export async function readHead(application: Application, store: Store): Promise<HeadEntry> {
  return headEntryOf(application, await store.get(HEAD_KEY));
}

/** Throws `ForeignStoreError` if this version cannot read the record, `store_unavailable` until a restore ends. */
export function headEntryOf(application: Application, entry: StoreEntry | null): HeadEntry {
  if (entry === null) return { head: EMPTY_HEAD, versionstamp: null };
  const record = decodeHeadRecord(application, entry.value);
  const code = "store_unavailable";
  switch (record.kind) {
    case "head":
      return { head: record.head, versionstamp: entry.versionstamp };
    case "restore_mark":
      throw new ServiceError(code, "A log is being restored into the store");
    case "refused":
      throw new ForeignStoreError(code, `The store cannot be used: ${record.message}`);
    case "foreign":
      throw new ForeignStoreError(
        code,
        `The head record is damaged, or not one of ${application.name}`,
      );
    default:
      return assertNever(record);
  }
}

export function encodeHead(application: Application, head: Head): Uint8Array {
  const record = { format: STORE_FORMAT, application: application.name, ...head };
  return withChecksum(HEAD_KEY, encodeJson(record));
}

export function encodeRestoreMark(mark: RestoreMark): Uint8Array {
  return withChecksum(HEAD_KEY, encodeJson(mark));
}

/** Whether a record of a head has the bytes that this version writes, or that one of the format before wrote. */
export function isAsWritten(application: Application, value: unknown): boolean {
  const decoded = decodeHeadRecord(application, value);
  const content = checkedContent({ key: HEAD_KEY, value });
  if (decoded.kind !== "head" || content === undefined) return false;
  const record = decodeJson(content);
  if (record.format === STORE_FORMAT) {
    return bytesEqual(value, encodeHead(application, decoded.head));
  }
  return bytesEqual(content, encodeJson(earlierHead(decoded.head, record)));
}

/** The format of a store, which stays the older one until the first commit. That of an empty store is the present one. */
export async function readStoreFormat(store: Store): Promise<number> {
  const entry = await store.get(HEAD_KEY);
  if (entry === null) return STORE_FORMAT;
  const content = checkedContent(entry);
  return content !== undefined && decodeJson(content).format === UPGRADED_FORMAT
    ? UPGRADED_FORMAT
    : STORE_FORMAT;
}

/** A copy of a head, to which {@linkcode addEvent} adds events. */
export function draftOf(head: Head): Head {
  const types: Head["types"] = {};
  for (const [type, summary] of Object.entries(head.types)) {
    types[type] = { ...summary! };
  }
  const counts: Head["counts"] = {};
  for (const [collection, its] of Object.entries(head.counts)) counts[collection] = { ...its };
  return { ...head, types, counts };
}

/** Adds an event to a draft, in place, because a log has many events. `lastHash` is the SHA-256 (hex) of its line. */
export function addEvent(
  application: Application,
  draft: Head,
  event: RecordedEvent,
  lastHash: string,
): void {
  const { type, position } = event;
  draft.position = position;
  draft.lastHash = lastHash;
  const version = schemaVersionOf(application, event);
  let summary = draft.types[type];
  if (summary === undefined) {
    summary = { version, count: 0, last: 0 };
    draft.types[type] = summary;
  }
  const isOther = version !== summary.version;
  if (isOther && isLaterSchema(application, type, version, summary.version)) {
    summary.version = version;
  }
  summary.count++;
  summary.last = position;
  const { collection, tally } = application.events[type];
  if (tally === undefined) return;
  const counts = draft.counts[collection] ?? {};
  for (const [name, change] of tally(event.data)) addTo(counts, name, change);
  if (Object.keys(counts).length === 0) delete draft.counts[collection];
  else draft.counts[collection] = counts;
}

function addTo(counts: Counts, name: string, change: number): void {
  const count = (counts[name] ?? 0) + change;
  if (count === 0) delete counts[name];
  else counts[name] = count;
}

type DecodedRecord =
  | { kind: "head"; head: Head }
  | { kind: "restore_mark"; mark: RestoreMark }
  /** Another application, another format or a newer release wrote it. The message says which, and what to do. */
  | { kind: "refused"; message: string }
  | { kind: "foreign" };

/** Recognises a value of {@linkcode HEAD_KEY} by its structure. A message is worded to follow a colon. */
export function decodeHeadRecord(application: Application, value: unknown): DecodedRecord {
  try {
    const content = checkedContent({ key: HEAD_KEY, value });
    const record = content === undefined ? decodeUnchecked(value) : decodeJson(content);
    const message = otherApplicationReason(application, record) ?? otherFormatReason(record);
    if (message !== undefined) return { kind: "refused", message };
    if (content === undefined) return { kind: "foreign" };
    if (record.format === "restore") {
      return { kind: "restore_mark", mark: RestoreMark.parse(record) };
    }
    const newerMessage = newerReleaseReason(application, record);
    if (newerMessage !== undefined) return { kind: "refused", message: newerMessage };
    return { kind: "head", head: decodeHead(application, record) };
  } catch {
    return { kind: "foreign" };
  }
}

function decodeHead(application: Application, record: Record<string, unknown>): Head {
  const isOlder = record.format === UPGRADED_FORMAT;
  const current = isOlder ? upgradedHead(application, record) : record;
  const { format: _, application: __, ...head } = HeadRecord.parse(current);
  return head;
}

/** Decodes a record without a checksum, as stores of another format have it, to find the number of that format. */
function decodeUnchecked(value: unknown) {
  return typeof value === "string" ? JSON.parse(value) : decodeJson(value);
}

/** The reason to refuse a record that names another application; `undefined` if it does not. Format 6 names none. */
function otherApplicationReason(
  { name }: Application,
  { application }: Record<string, unknown>,
): string | undefined {
  if (typeof application !== "string" || application === name) return undefined;
  return `it is a store of ${application}, not of ${name}; use that program, or name another store`;
}

/** The reason to refuse a record that names another format; `undefined` if it does not. */
function otherFormatReason({ format, storeFormat }: Record<string, unknown>): string | undefined {
  if (format === "restore") return otherRestoreReason(storeFormat);
  const isKnown = format === STORE_FORMAT || format === UPGRADED_FORMAT;
  if (isKnown || !Number.isSafeInteger(format)) return undefined;
  if (format as number < UPGRADED_FORMAT) return olderFormatReason(`it has format ${format}`);
  return `it has the newer format ${format}, and this version knows stores up to format ` +
    `${STORE_FORMAT}; use a version for format ${format}`;
}

function otherRestoreReason(storeFormat: unknown): string | undefined {
  if (storeFormat === STORE_FORMAT) return undefined;
  const format = storeFormat === undefined ? "an older format" : `format ${storeFormat}`;
  return `it holds an unfinished restore of a version with ${format}; ` +
    "finish it with that version, or restore the export into a new store";
}

/**
 * The reason to refuse a head with events of releases that this version does not know; `undefined` if it has none. A newer
 * release that adds to the counts must also add a version of a schema.
 */
function newerReleaseReason(
  application: Application,
  { types }: { types: Record<string, { version: string }> },
): string | undefined {
  const unknown = Object.entries(types)
    .filter(([type, { version }]) => !isKnownSchema(application, type, version))
    .sort(([, one], [, other]) => compareVersions(one.version, other.version));
  const latest = unknown.at(-1);
  if (latest === undefined) return undefined;
  const [type, { version }] = latest;
  return `its log has events of the newer release ${version}, such as ` +
    `${schemaOf(application, type)}:${version}; use release ${version} or a later one`;
}

/** The store was opened, but another application, another format or a newer release wrote its data. */
export class ForeignStoreError extends ServiceError {}
