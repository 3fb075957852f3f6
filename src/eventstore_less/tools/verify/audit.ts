/**
 * Audits a store or an export: reads every record or every line, and reports all faults. Writes nothing. Read the other
 * modules in this order:
 *
 * 1. `log_audit.ts` takes each line of the log, or each record of lines. It adds what is wrong to the findings.
 * 2. `log_verifier.ts` says whether the service can have written the line after all lines before it.
 * 3. `expected_records.ts` keeps a digest of each record that follows from the lines.
 * 4. `generation_audit.ts` judges the records of the store by these, and by the `later_events.ts`. A replay judges its
 *    new generation with it, too.
 * 5. `findings.ts` makes the report.
 *
 * A new kind of records needs nothing here: name it in `kinds` of its collection, and make it in `project()`. If its keys
 * end in a number, no two records of the kind have the same number.
 */

import type { Head } from "../../definitions.ts";
import {
  HEAD_KEY,
  isConsumersKey,
  isLastRunKey,
  isLogKey,
  isTurnRequestKey,
  isUnloggedKey,
  logKey,
  REPLAY_KEY,
} from "../../keyspace.ts";
import { isHeadBehind, isUnused } from "../../log/accept_store.ts";
import { GENESIS_HASH, OtherApplicationError } from "../../log/event.ts";
import {
  EMPTY_HEAD,
  ForeignStoreError,
  headEntryOf,
  isAsWritten,
  readHead,
} from "../../log/head.ts";
import { LINE_LIMIT_BYTES, readEvent } from "../../log/lines.ts";
import { formatKey } from "../../store/key_encoding.ts";
import { scan, scanOutside } from "../../store/scan.ts";
import type { ExpiringRecord } from "../../store/sqlite/sqlite_reader.ts";
import type { Key, Store } from "../../store/store.ts";
import { StoreDamagedError } from "../../store/store_errors.ts";
import type { Application } from "../../application.ts";
import { ToolError } from "../tool_error.ts";
import type { ToolStore } from "../tool_store.ts";
import { conversionOf, CONVERTED } from "./conversion.ts";
import { type AuditReport, type FaultKind, Findings, type Note } from "./findings.ts";
import { GenerationAudit } from "./generation_audit.ts";
import { LogAudit, type LogAuditOptions } from "./log_audit.ts";
import type { LogVerifier } from "./log_verifier.ts";
import { rawRecordOf } from "./readable_log.ts";

export interface AuditDeps extends ToolStore {
  /** Reads the records that the store will remove; absent if it does not expose them. */
  readExpiringRecords?: () => Iterable<ExpiringRecord> | AsyncIterable<ExpiringRecord>;
  /** Set if the file of the store is known to be damaged. */
  damage?: StoreDamagedError;
}

const ONLY_LOG: Note = {
  kind: "only_log_audited",
  message: "Other records than those of the log were not audited",
};

/**
 * Audits a store, which must retry its reads, as of its head at the start. Audits only the log if that has a fault, or if
 * the head or the file cannot be used, because the other records cannot be compared then.
 */
export async function auditStore(
  deps: AuditDeps,
  options: LogAuditOptions = {},
): Promise<AuditReport> {
  const { application, store, damage } = deps;
  try {
    const findings = new Findings(application, damage);
    const head = await readHeadFor(application, findings, store);
    if (head === undefined) return await auditOnlyLog(deps, findings, options);
    return await auditAll(deps, findings, options, head);
  } catch (error) {
    if (damage === undefined || !(error instanceof StoreDamagedError)) throw error;
    return await auditOnlyLog(deps, new Findings(application, damage), options);
  }
}

/** Audits a store without a usable head, or one whose file is damaged. */
async function auditOnlyLog(
  deps: AuditDeps,
  findings: Findings,
  options: LogAuditOptions,
): Promise<AuditReport> {
  findings.note(ONLY_LOG);
  // The index of the times of expiry may be what is damaged.
  if (deps.damage === undefined) await checkExpiry(findings, deps);
  return await auditLog(deps, options, findings);
}

/** Audits only the lines that the records of a store's log hold, in the order of their keys, as those of an export. */
export async function auditLog(
  { application, store }: Pick<AuditDeps, "application" | "store">,
  options: LogAuditOptions = {},
  findings = new Findings(application),
): Promise<AuditReport> {
  const log = new LogAudit(application, findings, options);
  try {
    for await (const lines of linesOfRecords(store)) {
      for (const line of lines) log.verify(line);
      options.step?.({ phase: "log", done: log.verifier.position });
    }
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
    const { position } = log.verifier;
    const message = `The log can be read only up to position ${position}: ${error.reason}`;
    findings.add("file_damaged", message, position + 1);
  }
  log.end();
  return findings.report(log.verifier.head);
}

/**
 * The lines that the records of a store's log hold, sound or not, whatever the head says. A record without lines counts
 * as an empty line. At a damage of the file, rejects with `StoreDamagedError` after the lines before it.
 */
export async function* linesOfRecords(store: Store): AsyncGenerator<Uint8Array[]> {
  for await (const entries of scan(store, logRange(Number.MAX_SAFE_INTEGER - 1))) {
    const records = entries.filter(({ key }) => isLogKey(key));
    const found = await Promise.all(records.map(rawRecordOf));
    yield found.flatMap(({ lines }) => lines.length > 0 ? lines : [new Uint8Array()]);
  }
}

/** The first lines of a file among which an export has an event. */
const FIRST_LINES = 1_000;

/**
 * Audits the lines of an export, which must have an event. Ends at a line that another program has changed, because all
 * others are probably changed, too. Rejects if the export begins after position 1.
 */
export async function auditLines(
  application: Application,
  lines: AsyncIterable<Uint8Array[]>,
  options: LogAuditOptions = {},
): Promise<AuditReport> {
  const findings = new Findings(application);
  const log = new LogAudit(application, findings, options);
  let number = 0;
  let events = 0;
  let message = "The file is not an export of the log: it has no event";
  for await (const batch of lines) {
    if (number === 0) {
      refusePartial(application, batch[0]);
      const first = readEvent(application, batch[0]);
      const isOther = first instanceof OtherApplicationError;
      if (isOther) message = `The file is an export of another application: ${first.reason}`;
    }
    for (const line of batch) {
      number++;
      if (log.verify(line)) {
        events++;
        continue;
      }
      // After another fault, an empty or overlong line says little.
      const isFirstFault = events === number - 1;
      const conversion = isFirstFault ? conversionOf(application, line) : undefined;
      if (conversion === undefined) continue;
      return onlyFault(
        application,
        conversion.kind,
        `Line ${number} ${conversion.cause}: ${CONVERTED}`,
        number,
      );
    }
    options.step?.({ phase: "log", done: log.verifier.position });
    const hasNewerLines = findings.counts.newer_line !== undefined;
    const isTooLong = batch.at(-1)!.length > LINE_LIMIT_BYTES;
    if (events === 0 && (isTooLong || number >= FIRST_LINES) && !hasNewerLines) break;
  }
  const hasNewerLines = findings.counts.newer_line !== undefined;
  if (number === 0) {
    findings.add("no_lines", "The export has no lines, so it is not a whole copy of a log", 1);
  } else if (events === 0 && !hasNewerLines) {
    return onlyFault(application, "no_export", message);
  }
  log.end();
  return findings.report(log.verifier.head);
}

/** The report on a file whose fault explains all others. */
function onlyFault(
  application: Application,
  kind: FaultKind,
  message: string,
  position?: number,
): AuditReport {
  const findings = new Findings(application);
  findings.add(kind, message, position);
  return findings.report(EMPTY_HEAD);
}

/** Throws if the first line of an export is a later one of a log. */
function refusePartial(application: Application, line: Uint8Array): void {
  const first = readEvent(application, line);
  if (!("position" in first) || first.position < 2) return;
  // Only the first line of a log has this hash, so its position is wrong.
  if (first.previousHash === GENESIS_HASH) return;
  throw new ToolError(
    "export_partial",
    `The export begins at position ${first.position}, but an audit needs all events from ` +
      "position 1 on",
  );
}

/** Audits all records of a store with that head. */
async function auditAll(deps: AuditDeps, findings: Findings, options: LogAuditOptions, head: Head) {
  const { application } = deps;
  const log = new LogAudit(application, findings, options);
  for await (const entries of scan(deps.store, logRange(head.position))) {
    for (const entry of entries) {
      if (isLogKey(entry.key)) log.verifyRecord(entry);
      else addForeign(findings, entry.key);
    }
    options.step?.({ phase: "log", done: log.verifier.position, total: head.position });
  }
  log.end(head.position);
  if (log.isSound) {
    checkHead(findings, head, log.verifier.head);
    await auditRest(deps, findings, head, log.verifier, options);
  } else findings.note(ONLY_LOG);
  await checkExpiry(findings, deps);
  return findings.report(log.verifier.head);
}

function checkHead(findings: Findings, head: Head, expected: Head): void {
  const { generation, ...fields } = head;
  const wrong = (what: string) => findings.add("head", `The head is wrong: ${what}`);
  for (const field of Object.keys(fields) as (keyof typeof fields)[]) {
    const stored = textOfField(head[field]);
    const right = textOfField(expected[field]);
    if (stored !== right) wrong(`its field ${field} is ${stored}, but the log says ${right}`);
  }
  if (generation < 1) wrong(`generation ${generation} is not possible`);
}

function textOfField(value: Head[keyof Head]): string {
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Reads everything outside of the log up to the head: judges the generation that it serves, and finds what is foreign. */
async function auditRest(
  { application, store, runtime }: AuditDeps,
  findings: Findings,
  { generation, position }: Head,
  verifier: LogVerifier,
  { step = () => {} }: LogAuditOptions,
): Promise<void> {
  let judged = 0;
  const records = new GenerationAudit({
    application,
    store,
    runtime,
    generation,
    verifier,
    findings,
  });
  let isOfReplay = false;
  for await (const entries of scanOutside(store, logRange(position))) {
    const served = entries.filter(({ key }) => generationOf(key) === generation);
    await records.judge(served);
    judged += served.length;
    step({ phase: "records", done: judged });
    const others = entries.filter(({ key }) => generationOf(key) !== generation);
    if (others.length === 0) continue;
    // This head is read after the entries, so it covers all lines that were added since the start.
    const { head: { position: last } } = await readHead(application, store);
    for (const { key } of others) {
      const isReplay = isRecord(REPLAY_KEY, key) || generationOf(key) !== undefined;
      const isNewLine = isLogKey(key) && key[1] <= last;
      isOfReplay ||= isReplay;
      const isKnown = isReplay || isNewLine || isRecord(HEAD_KEY, key) || isTurnRequestKey(key) ||
        isLastRunKey(key) || isConsumersKey(key) || isUnloggedKey(key);
      if (!isKnown) addForeign(findings, key);
    }
  }
  await records.finish();
  if (!isOfReplay) return;
  findings.note({
    kind: "replay_not_ended",
    message: "A replay has not ended; if no replay is running, run one to finish it",
  });
}

/** The generation of a record of the projections; `undefined` if it is another record. */
function generationOf([kind, generation, ...rest]: Key): number | undefined {
  const isGeneration = Number.isSafeInteger(generation) && generation as number >= 1;
  if (kind !== "projection" || !isGeneration || rest.length === 0) return undefined;
  return generation as number;
}

function addForeign(findings: Findings, key: Key): void {
  const message = `Record ${formatKey(key)} is not one that this service writes at this head`;
  findings.add("foreign_record", message);
}

async function checkExpiry(findings: Findings, { readExpiringRecords }: AuditDeps): Promise<void> {
  if (readExpiringRecords === undefined) {
    findings.note({
      kind: "expiry_not_audited",
      message: "The store does not expose which records expire, so this was not audited",
    });
    return;
  }
  for await (const { key, expiresAt } of readExpiringRecords()) {
    const time = new Date(expiresAt).toISOString();
    const message = `Record ${formatKey(key)} is set to expire at ${time}, and none should be`;
    const position = isLogKey(key) ? key[1] : undefined;
    const isOfLog = position !== undefined || isRecord(HEAD_KEY, key);
    findings.add(isOfLog ? "log_expires" : "record_expires", message, position);
  }
}

/** The head to audit up to; `undefined` if there is no usable head. */
async function readHeadFor(
  application: Application,
  findings: Findings,
  store: Store,
): Promise<Head | undefined> {
  try {
    const entry = await store.get(HEAD_KEY);
    const { head } = headEntryOf(application, entry);
    if (entry === null) {
      if (await isUnused(store)) return head;
      findings.add("head", "The head record is missing");
      return undefined;
    }
    if (await isHeadBehind(application, store, head)) {
      const message = `The head is at position ${head.position}, but the log continues after it`;
      findings.add("head", message);
      return undefined;
    }
    if (!isAsWritten(application, entry.value)) {
      findings.add("head", "The head record is not in the form that this service writes");
    }
    return head;
  } catch (error) {
    if (!(error instanceof ForeignStoreError)) throw error;
    findings.add("head", error.message);
    return undefined;
  }
}

function logRange(to: number) {
  return { start: logKey(1), end: logKey(to + 1) };
}

function isRecord([name]: readonly [string], key: Key): boolean {
  return key.length === 1 && key[0] === name;
}
