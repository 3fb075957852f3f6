/**
 * Proves that the stored data is what was written: reads every record of a store, or every line of an export,
 * and reports all faults. Writes nothing.
 */

import { GENESIS_HASH, type RecordedLine } from "../../events/event.ts";
import {
  EMPTY_HEAD,
  encodeHead,
  ForeignStoreError,
  type Head,
  headEntryOf,
  readHead,
} from "../../src/log/head.ts";
import {
  Comparison,
  type ComparisonDeps,
  type Difference,
  type DifferenceKind,
} from "./compare.ts";
import type { FaultKind } from "./advice.ts";
import { isHeadBehind } from "../../src/log/is_head_behind.ts";
import { readEvent } from "../../src/log/lines.ts";
import { type AuditReport, Findings } from "./findings.ts";
import { LogAudit, type LogAuditOptions } from "./log_audit.ts";
import { decodeLease } from "../replay/replay_lease.ts";
import { formatKey } from "../../src/store/key_encoding/key_text.ts";
import {
  HEAD_KEY,
  isLogKey,
  isProjectionKey,
  LOG_PREFIX,
  logKey,
  REPLAY_KEY,
} from "../../src/keyspace.ts";
import type { ReadExpiringRecords } from "../../src/store/read_expiring_records.ts";
import { linesOfRecords } from "./lines_of_records.ts";
import { type BoundedRange, scan, scanOutside } from "../../src/store/scan.ts";
import type { Key, Store, StoreEntry } from "../../src/store/store.ts";
import { StoreDamagedError } from "../../src/store/store_errors.ts";

/** How often an audit is tried while replays change the generations during it. */
const ATTEMPTS = 3;

/** The store to audit, and the means to audit it. */
export interface AuditDeps extends Pick<ComparisonDeps, "store" | "runtime"> {
  /** Absent if the store does not expose which records expire. */
  readExpiringRecords?: ReadExpiringRecords;
  /** Set if the file of the store is known to be damaged. */
  damage?: StoreDamagedError;
}

export interface AuditOptions extends LogAuditOptions {
  /** Called with the number of lines checked; `total` is unknown for a file. */
  progress?: (done: number, total?: number) => void;
}

/** Replays followed each other so closely that no audit between them was possible. */
export class AuditImpossibleError extends Error {
  override name = "AuditImpossibleError";
}

/**
 * Audits a store up to its current head. Events appended meanwhile are not faults. The store must retry its
 * reads. Throws `AuditImpossibleError`, and `StoreDamagedError` if the file is damaged and `damage` is not set. With
 * `damage`, only the log is audited if the other records cannot be read.
 */
export async function audit(
  deps: AuditDeps,
  options: AuditOptions = {},
): Promise<AuditReport> {
  const { store, damage } = deps;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const findings = findingsWith(damage);
    let head: Head | undefined;
    let report: AuditReport;
    try {
      head = await readHeadFor(findings, store);
      report = await new StoreAudit(deps, findings, options).run(head);
    } catch (error) {
      if (damage === undefined || !(error instanceof StoreDamagedError)) throw error;
      const rest = findingsWith(damage);
      rest.notes.push("Other records than those of the log were not audited");
      return await auditLog(store, options, rest);
    }
    // If a replay changed the generations, it may have removed records during the audit. Then audit again.
    if (report.sound || head === undefined || await generationsHold(store, head)) return report;
  }
  throw new AuditImpossibleError(
    "A replay flipped the projections during each attempt; audit again when it has ended",
  );
}

function findingsWith(damage: StoreDamagedError | undefined): Findings {
  const findings = new Findings();
  if (damage !== undefined) {
    findings.add("file_damaged", `The file of the store is damaged: ${damage.reason}`);
  }
  return findings;
}

/** The report on a store whose file cannot be opened because it is damaged. */
export function unreadableReport(damage: StoreDamagedError): AuditReport {
  return findingsWith(damage).report(EMPTY_HEAD);
}

/**
 * Audits the lines that the records of a store's log hold, in the order of their keys, as those of an export. No
 * other record counts, not even the head.
 */
export async function auditLog(
  store: Store,
  options: AuditOptions = {},
  findings = new Findings(),
): Promise<AuditReport> {
  const log = new LogAudit(findings, options);
  try {
    for await (const lines of linesOfRecords(store)) {
      for (const line of lines) log.verify(line);
      options.progress?.(log.position);
    }
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
    const { position } = log;
    const message = `The log can be read only up to position ${position}: ${error.reason}`;
    findings.add("file_damaged", message, position + 1);
  }
  log.end();
  return findings.report(log.head);
}

/**
 * Audits only the lines of an export. An export without lines or without any event is not sound. A partial export,
 * which begins after the first event, is verified from its own first line. Rejects with `PartialExportError`.
 */
export async function auditLines(
  lines: AsyncIterable<Uint8Array[]>,
  options: AuditOptions = {},
): Promise<AuditReport> {
  const { progress = () => {} } = options;
  const findings = new Findings();
  const log = new LogAudit(findings, options);
  let from: number | undefined;
  let events = 0;
  for await (const batch of lines) {
    if (log.lines === 0) from = startPartial(log, batch[0], options);
    for (const line of batch) if (log.verify(line) !== undefined) events++;
    progress(log.position);
  }
  if (log.lines > 0 && events + findings.countOf("newer_line") === 0) {
    const other = new Findings();
    other.add("no_export", "The file is not an export of deno task log: it has no event");
    return other.report(EMPTY_HEAD);
  }
  if (log.lines === 0) {
    findings.add("no_lines", "The export has no lines, so it is not a whole copy of a log", 1);
  }
  log.end();
  return findings.report(log.head, { from, isExport: true });
}

/** A partial export lacks the events that it must be compared with. */
export class PartialExportError extends Error {
  override name = "PartialExportError";
}

/**
 * Begins at the first line of a partial export, and returns its position; `undefined` if the export should be a
 * whole log.
 */
function startPartial(
  log: LogAudit,
  line: Uint8Array,
  { checkpoint, comparePublished }: AuditOptions,
): number | undefined {
  const first = readEvent(line);
  if (!("position" in first) || first.position < 2) return undefined;
  const { position: from, previousHash } = first;
  // Only the first line of a log has this hash, so its position is wrong.
  if (previousHash === GENESIS_HASH) return undefined;
  const partial = `The export begins at position ${from}, so it cannot be compared with`;
  if (comparePublished !== undefined) {
    throw new PartialExportError(`${partial} the published log; audit a whole export`);
  }
  if (checkpoint !== undefined && checkpoint.position < from - 1) {
    throw new PartialExportError(
      `${partial} the checkpoint at position ${checkpoint.position}; audit an export from there`,
    );
  }
  log.startAfter(from - 1, previousHash);
  return from;
}

class StoreAudit {
  #deps: AuditDeps;
  #store: Store;
  #findings: Findings;
  #options: AuditOptions;

  constructor(deps: AuditDeps, findings: Findings, options: AuditOptions) {
    this.#deps = deps;
    this.#store = deps.store;
    this.#findings = findings;
    this.#options = options;
  }

  async run(head: Head | undefined): Promise<AuditReport> {
    const to = head?.position ?? await this.#lastPosition();
    const comparisons = head === undefined ? [] : this.#comparisonsOf(head);
    const log = await this.#readLogRecords(to, comparisons, head?.lastHash);
    if (head === undefined) {
      this.#findings.notes.push("Without a usable head, the projections were not audited");
    } else {
      this.#checkHead(head, log);
      await this.#readRest(head, comparisons);
    }
    await this.#checkExpiry();
    return this.#findings.report({ ...log.head, position: log.position });
  }

  #comparisonsOf({ generation, building, lastPetId }: Head): Comparison[] {
    const deps = this.#deps;
    const differs = (difference: Difference, count: number) => {
      const { kind, position } = difference;
      this.#findings.add(RECORD_FAULTS[kind], wordsFor(difference, lastPetId), position, count);
    };
    const served = new Comparison({ ...deps, generation, differs });
    if (building?.generation !== generation + 1) return [served];
    const { until: mayMissUntil } = building;
    return [
      served,
      new Comparison({ ...deps, generation: generation + 1, mayMissUntil, differs }),
    ];
  }

  async #readLogRecords(
    to: number,
    comparisons: Comparison[],
    lastHash?: string,
  ): Promise<LogAudit> {
    const log = new LogAudit(this.#findings, this.#options);
    for await (const entries of scan(this.#store, logRange(to))) {
      const lines: RecordedLine[] = [];
      for (const { key, value } of entries) {
        if (!isLogKey(key)) {
          this.#addForeign(key);
          continue;
        }
        lines.push(...log.verifyRecord(key[1], value));
      }
      for (const comparison of comparisons) await comparison.follow(lines);
      this.#options.progress?.(log.position, to);
    }
    for (const comparison of comparisons) comparison.finish();
    this.#noteWrongClock(comparisons);
    log.end(to, lastHash);
    return log;
  }

  #noteWrongClock(comparisons: Comparison[]): void {
    let count = 0;
    for (const { removedByWrongClock } of comparisons) count += removedByWrongClock;
    if (count === 0) return;
    this.#findings.notes.push(
      `${count} idempotency ${count === 1 ? "record is" : "records are"} missing, and a wrong ` +
        "clock explains it: an event lies in the future, or a later event has an earlier time",
    );
  }

  #checkHead(head: Head, log: LogAudit): void {
    const { position, generation, building, removing } = head;
    const wrong = (what: string, at?: number) => {
      this.#findings.add("head", `The head is wrong: ${what}`, at);
    };
    const expected = log.head;
    // If lines are missing or cannot be read, that fault explains the differences.
    const isLogComplete = log.isComplete && log.position === position;
    if (isLogComplete && head.lastHash !== expected.lastHash) {
      wrong(
        `its lastHash is not the SHA-256 of line ${position}, so either the head or the line was altered`,
        position,
      );
    }
    for (const field of ["lastPetId", "keyPosition"] as const) {
      if (isLogComplete && head[field] !== expected[field]) {
        wrong(`its ${field} is ${head[field]}, but the log says ${expected[field]}`);
      }
    }
    if (generation < 1) wrong(`generation ${generation} is not possible`);
    if (building !== undefined) {
      if (building.generation !== generation + 1 || building.until > position) {
        wrong(
          `it builds generation ${building.generation} up to position ${building.until}, ` +
            `while generation ${generation} is served and the log ends at ${position}`,
        );
      } else {
        this.#findings.notes.push(
          `A replay builds generation ${building.generation}; if no replay is running, run one to finish this`,
        );
      }
    }
    if (removing !== undefined) {
      if (removing < 1 || building !== undefined || Math.abs(removing - generation) !== 1) {
        wrong(`generation ${removing} cannot be removed while ${generation} is served`);
      } else {
        this.#findings.notes.push(
          `Generation ${removing} is being removed; if no replay is running, run one to finish this`,
        );
      }
    }
  }

  /** Reads everything outside of the log and of the ranges compared with it. */
  async #readRest(head: Head, comparisons: Comparison[]): Promise<void> {
    const read: BoundedRange[] = [
      ...comparisons.flatMap(({ covered }) => covered),
      logRange(head.position),
    ];
    for await (const entries of scanOutside(this.#store, [], read)) {
      const unclear: StoreEntry[] = [];
      const ofComparison = new Map<Comparison, StoreEntry[]>();
      for (const entry of entries) {
        const comparison = comparisons.find(({ generation }) => isOf(generation, entry.key));
        if (comparison === undefined) unclear.push(entry);
        else ofComparison.set(comparison, [...ofComparison.get(comparison) ?? [], entry]);
      }
      for (const [comparison, own] of ofComparison) await comparison.judge(own);
      await this.#judge(unclear, head);
    }
  }

  async #judge(entries: StoreEntry[], head: Head): Promise<void> {
    const doubtful = entries.filter((entry) => !isOwn(entry));
    if (doubtful.length === 0) return;
    // Read after the entries, so that this head covers all that was written since the audit began.
    const { head: now } = await readHead(this.#store);
    const generations = [head, now].flatMap((
      { generation, building, removing },
    ) => [generation, building?.generation, removing]);
    for (const { key } of doubtful) {
      const isNewLine = isLogKey(key) && key[1] > head.position && key[1] <= now.position;
      const isOfReplay = key[0] === "projection" &&
        generations.includes(key[1] as number) && isProjectionKey(key.slice(2));
      if (!isNewLine && !isOfReplay) this.#addForeign(key);
    }
  }

  async #checkExpiry(): Promise<void> {
    const { readExpiringRecords } = this.#deps;
    if (readExpiringRecords === undefined) {
      this.#findings.notes.push(
        "The store does not expose which records expire, so this was not audited",
      );
      return;
    }
    for await (const { key, expiresAt } of readExpiringRecords()) {
      const time = new Date(expiresAt).toISOString();
      const message = `Record ${formatKey(key)} is set to expire at ${time}: ${effectOn(key)}`;
      const kind = isLogKey(key) || isHeadKey(key) ? "log_expires" : "record_expires";
      this.#findings.add(kind, message, isLogKey(key) ? key[1] : undefined);
    }
  }

  #addForeign(key: Key): void {
    this.#findings.add(
      "foreign_record",
      `Record ${formatKey(key)} is not one that this service writes at this head`,
    );
  }

  async #lastPosition(): Promise<number> {
    const [last] = await this.#store.list({ prefix: LOG_PREFIX }, { limit: 1, reverse: true });
    return last !== undefined && isLogKey(last.key) ? last.key[1] : 0;
  }
}

const RECORD_FAULTS = {
  missing: "record_missing",
  extra: "record_extra",
  altered: "record_altered",
} as const satisfies Record<DifferenceKind, FaultKind>;

function wordsFor(difference: Difference, lastPetId: number): string {
  const { kind, key, position } = difference;
  const [, generation, name, status] = key;
  const isOfPets = name === "pet" || name === "pet_by_status";
  const last = key.at(-1) as number;
  const isUnknown = isOfPets && kind === "extra" && last > lastPetId;
  const petId = difference.petId ?? (isUnknown ? last : undefined);
  if (petId === undefined) {
    const record = `Record ${formatKey(key)}`;
    if (kind === "missing") {
      return `${record} is missing: the event at position ${position} makes it`;
    }
    if (kind === "extra") return `${record} is stored, but no event makes it`;
    return isOfPets
      ? `${record} is damaged: it does not hold whole pets in order`
      : `${record} is not what the event at position ${position} makes it`;
  }
  // A record holds many pets, so its key would not say which of them differs.
  const kindOfList = name === "pet" ? "id" : `status ${String(status)}`;
  const projection = `the projection by ${kindOfList} of generation ${String(generation)}`;
  switch (kind) {
    case "missing":
      return `Pet ${petId} is missing from ${projection}: the event at position ${position} adds it`;
    case "extra":
      return petId > lastPetId
        ? `Pet ${petId} is in ${projection}, but no event adds it`
        : `Pet ${petId} is in ${projection} once more than the log says`;
    case "altered":
      return `Pet ${petId} in ${projection} is not what the event at position ${position} says`;
  }
}

/** Describes the effect of a record's expiry, and what removes the expiry. */
function effectOn(key: Key): string {
  if (isLogKey(key)) {
    return `its lines, up to line ${key[1]}, are lost then; export the log before that`;
  }
  if (isHeadKey(key)) {
    return "the store serves nothing then; the next event that is added removes the expiry";
  }
  if (key[0] === "projection") return "a replay writes it again without an expiry";
  return "the service never writes such a record";
}

/** The head to audit up to; `undefined` if there is no usable head. */
async function readHeadFor(findings: Findings, store: Store): Promise<Head | undefined> {
  try {
    const entry = await store.get(HEAD_KEY);
    const { head } = headEntryOf(entry);
    if (entry !== null) {
      if (await isHeadBehind(store, head)) {
        const message = `The head is at position ${head.position}, but the log continues after it`;
        findings.add("head", message);
        return undefined;
      }
      if (entry.value !== encodeHead(head)) {
        findings.add("head", "The head record is not in the form that this service writes");
      }
      return head;
    }
    const isEmpty = (await store.list({ prefix: [] }, { limit: 1 })).length === 0;
    if (isEmpty) return EMPTY_HEAD;
    findings.add("head", "The head record is missing");
  } catch (error) {
    if (!(error instanceof ForeignStoreError)) throw error;
    findings.add("head", error.message);
  }
}

async function generationsHold(store: Store, before: Head): Promise<boolean> {
  const { head: now } = await readHead(store);
  return generationsOf(now) === generationsOf(before);
}

function generationsOf({ generation, building, removing }: Head): string {
  return JSON.stringify([generation, building, removing]);
}

function logRange(to: number): BoundedRange {
  return { start: logKey(1), end: logKey(to + 1) };
}

function isHeadKey(key: Key): boolean {
  return key.length === 1 && key[0] === HEAD_KEY[0];
}

function isOf(generation: number, key: Key): boolean {
  return key[0] === "projection" && key[1] === generation;
}

function isOwn({ key, value }: StoreEntry): boolean {
  if (isHeadKey(key)) return true;
  return key.length === 1 && key[0] === REPLAY_KEY[0] && decodeLease(value) !== undefined;
}
