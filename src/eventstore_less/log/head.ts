/** The head of the log: the record that every append checks and replaces. */

import type { Application } from "../application.ts";
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
import { otherVersionReason } from "../store/store_errors.ts";
import { GENESIS_HASH, isKnownSchema, isLaterSchema, schemaOf, schemaVersionOf } from "./event.ts";

/** The version of the keyspace that this service reads and writes. */
const STORE_FORMAT = 6;

const Count = z.int().min(0);

const TypeSummary = z.strictObject({
  version: z.string(),
  count: z.int().min(1),
  last: z.int().min(1),
});

const HeadRecord = z.strictObject({
  format: z.literal(STORE_FORMAT),
  position: Count,
  lastHash: Sha256Hex,
  types: z.record(z.string(), TypeSummary),
  counts: z.record(z.string(), z.record(z.string(), z.int())),
  generation: Count,
}) satisfies z.ZodType<Head>;

/** Members that earlier versions of this format wrote. They mean nothing, and the next write of the head drops them. */
const FORMER_MEMBERS = ["removing", "lacksColumns"];

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
  head: Head;
  versionstamp: string | null;
}

export const EMPTY_HEAD: Head = {
  format: STORE_FORMAT,
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

/** Throws `ForeignStoreError` if this version did not write the record, `store_unavailable` until a restore ends. */
export function headEntryOf(application: Application, entry: StoreEntry | null): HeadEntry {
  if (entry === null) return { head: EMPTY_HEAD, versionstamp: null };
  const record = decodeHeadRecord(application, entry.value);
  const code = "store_unavailable";
  switch (record.kind) {
    case "head":
      return { head: record.head, versionstamp: entry.versionstamp };
    case "restore_mark":
      throw new ServiceError(code, "A log is being restored into the store");
    case "other_format":
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

export function encodeHead(head: Head | RestoreMark): Uint8Array {
  return withChecksum(HEAD_KEY, encodeJson(head));
}

/** Whether a record of a head has the bytes that this version writes, or that an earlier one of the same format wrote. */
export function isAsWritten(application: Application, value: unknown): boolean {
  const content = checkedContent({ key: HEAD_KEY, value });
  if (content === undefined) return false;
  const record = decodeJson(content);
  const head = HeadRecord.safeParse(fromEarlier(application, record));
  if (!head.success) return false;
  const former = Object.entries(record).filter(([name]) => FORMER_MEMBERS.includes(name));
  const written = { ...head.data, counts: record.counts, ...Object.fromEntries(former) };
  return bytesEqual(content, encodeJson(written));
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
  if (isLaterSchema(application, type, version, summary.version)) summary.version = version;
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
  | { kind: "other_format"; message: string }
  | { kind: "foreign" };

/** Recognises a value of {@linkcode HEAD_KEY} by its structure. A message is worded to follow a colon. */
export function decodeHeadRecord(application: Application, value: unknown): DecodedRecord {
  try {
    const content = checkedContent({ key: HEAD_KEY, value });
    const record = content === undefined ? decodeUnchecked(value) : decodeJson(content);
    const message = otherFormatReason(record);
    if (message !== undefined) return { kind: "other_format", message };
    if (content === undefined) return { kind: "foreign" };
    if (record.format === "restore") {
      return { kind: "restore_mark", mark: RestoreMark.parse(record) };
    }
    const newerMessage = newerSchemaReason(application, record);
    if (newerMessage !== undefined) return { kind: "other_format", message: newerMessage };
    return { kind: "head", head: HeadRecord.parse(fromEarlier(application, record)) };
  } catch {
    return { kind: "foreign" };
  }
}

/** The record as this version writes it, if an earlier version of the same format wrote it. */
function fromEarlier(
  application: Application,
  record: Record<string, unknown>,
): Record<string, unknown> {
  const members = Object.entries(record).filter(([name]) => !FORMER_MEMBERS.includes(name));
  return {
    ...Object.fromEntries(members),
    counts: countsFromEarlier(application, record.counts as object),
  };
}

/** The collection whose counts earlier versions wrote without a name, if the application had one. */
function countsFromEarlier(application: Application, counts: object): object {
  const isEarlier = Object.values(counts).some((count) => typeof count === "number");
  const unnamed = application.collections.find(({ hadUnnamedCounts }) => hadUnnamedCounts)?.name;
  return isEarlier && unnamed !== undefined ? { [unnamed]: counts } : counts;
}

/** Decodes a record without a checksum, as stores of another format have it, to find the number of that format. */
function decodeUnchecked(value: unknown) {
  return typeof value === "string" ? JSON.parse(value) : decodeJson(value);
}

/** The reason to refuse a record that names another format; `undefined` if it does not. */
function otherFormatReason({ format, storeFormat }: Record<string, unknown>): string | undefined {
  if (format === "restore") {
    if (storeFormat === STORE_FORMAT) return undefined;
    return "it holds an unfinished restore of another version; use a new store";
  }
  if (!Number.isSafeInteger(format) || format === STORE_FORMAT) return undefined;
  // The first number of a version is the format of its store.
  const newer = format as number > STORE_FORMAT ? String(format) : undefined;
  return otherVersionReason(`it has format ${format}`, newer);
}

/**
 * The reason to refuse a head that names a schema of events that this version does not know; `undefined` if it names
 * none. A newer version that adds to the head or to its counts must also add a schema version, or use another format.
 */
function newerSchemaReason(
  application: Application,
  { types }: { types: Record<string, { version: string }> },
) {
  for (const [type, { version }] of Object.entries(types)) {
    if (isKnownSchema(application, type, version)) continue;
    const shown = `its log has events of the schema ${schemaOf(application, type)}:${version}`;
    return otherVersionReason(shown, version);
  }
}

/** The store was opened, but another program or another version of this one wrote its data. */
export class ForeignStoreError extends ServiceError {}
