import { locationOf } from "../event_store.ts";
import { GUARD_KEYS } from "../keyspace.ts";
import { subjectOf } from "../log/event.ts";
import { systemRuntime } from "../runtime/system_runtime.ts";
import { openStore } from "../store/open_store.ts";
import type { StoreLocation } from "../store/store_location.ts";
import type { Application } from "../application.ts";
import type { RecordedEvent } from "../definitions.ts";
import { exportOf } from "./lines_of.ts";
import { patientStore } from "./open_to_read.ts";
import { RefusedError } from "./refused_error.ts";
import { type EndOfTime, findEndOfTime, firstLines } from "./restore/first_lines.ts";
import { redacted } from "./restore/redact.ts";
import { readExport, verifyExport } from "./restore/verify_export.ts";
import { writeExport } from "./restore/write_export.ts";
import { type Progress, type Step, stepOf, type ToolOptions } from "./tool_options.ts";
import type { Export, ToolStore } from "./tool_store.ts";
import type { LogVerifier } from "./verify/log_verifier.ts";

/**
 * The phases of a restore, in order, of which each counts events:
 *
 * - `verify`: checks the part of the export that is restored.
 * - `verify_redacted`: checks its lines without the erased data.
 * - `read`: reads the rest of the export, to say what the new log lacks.
 * - `write`: writes the store. The total is the last position. Until its end, the store is refused.
 */
export type RestorePhase = "verify" | "verify_redacted" | "read" | "write";

/** Which part of an export is restored, and how. */
export interface RestoreOptions extends ToolOptions<Progress<RestorePhase>> {
  /** The last position to restore. What follows in the export may be damaged. */
  to?: number;
  /** Restores only the events before this time, in ISO 8601: those before the first one that is not earlier. */
  until?: string;
  /** The subjects whose personal data is erased, such as `bookings/7`. This changes the hashes of all later lines. */
  redact?: readonly string[];
  /** Called if the tables in an empty database were created, with its name. */
  onSchemaCreated?(database: string): void;
}

/** What was restored. */
export interface RestoreReport {
  /** The last position of the new log. */
  position: number;
  /** SHA-256 (hex) of its last line. */
  hash: string;
  /** The last position up to which the new log has the lines of the export. */
  kept: number;
  /** The number of events of each subject in which personal data was erased. */
  redacted: ReadonlyMap<string, number>;
  /** The last position of the export, and its latest time, in milliseconds since the Unix epoch. */
  exported: { position: number; latestMs: number };
  /** Where `until` ends the log. */
  endOfTime: EndOfTime | undefined;
  /** What the application says that the new log lacks, in sentences. */
  consequences: readonly string[];
}

interface Run {
  application: Application;
  /** The part of the export that is restored, and its verifier after the last line. */
  source: Export;
  verified: LogVerifier;
  step: Step<Progress<RestorePhase>>;
}

/**
 * Restores an export into an empty store: exactly its lines, and all records that follow from them. It first verifies all
 * of it, so a refused export writes nothing. A location is opened, and created if it is missing.
 *
 * If it was aborted or killed, run it again with the same export and options, and it resumes; until then, the store is
 * refused. With a time such as an hour ago, `to` must take its place, with the position that the phase `write` reports.
 *
 * Rejects with `UnsoundError` at a fault of the export, with `RefusedError` if it cannot be restored (`converted`,
 * `export_empty`, `export_too_short`, `export_changed`, `nothing_to_erase`), with `ToolError` if the store is not empty
 * (`store_not_empty`), with `OpenStoreError`, and with `RangeError` if `until` is not a time.
 *
 * ```ts
 * await restore("bookings.jsonl", application, "restored.sqlite3", { to: 1_000 });
 * ```
 */
export async function restore(
  from: string | Export,
  application: Application,
  target: string | StoreLocation | ToolStore,
  options: RestoreOptions = {},
): Promise<RestoreReport> {
  const step = stepOf(options);
  const { to, until, redact = [] } = options;
  const whole = exportOf(from);
  const endOfTime = until === undefined
    ? undefined
    : await findEndOfTime(application, whole, new Date(until).toISOString());
  const end = Math.min(to ?? Infinity, endOfTime?.position ?? Infinity);
  const source = end === Infinity ? whole : () => firstLines(whole, end);
  const original = await verifyExport(application, source, (done) => {
    step({ phase: "verify", done });
  });
  const { position } = original;
  if (end !== Infinity && end > position) {
    throw new RefusedError(
      "export_too_short",
      `The export ends at position ${position}, before ${end}`,
    );
  }
  const run = { application, source, verified: original, step };
  const { counts, kept, ...written } = await redactSubjects(run, redact);
  const all = end === Infinity ? original : await readExport(application, whole, (done) => {
    step({ phase: "read", done });
  });
  await write({ ...run, ...written }, target, options);
  return {
    position,
    hash: written.verified.head.lastHash,
    kept,
    redacted: counts,
    exported: { position: all.position, latestMs: all.latestMs },
    endOfTime,
    consequences: original.consequencesOfCut(all, systemRuntime.now()),
  };
}

/** The export without the personal data of the subjects, and the last position whose line stays the same. */
async function redactSubjects(
  { application, source, verified, step }: Run,
  subjects: readonly string[],
): Promise<Pick<Run, "source" | "verified"> & { counts: Map<string, number>; kept: number }> {
  const counts = new Map(subjects.map((subject) => [subject, 0]));
  if (subjects.length === 0) return { source, verified, counts, kept: verified.position };
  const { head } = verified;
  let first = Infinity;
  const note = (event: RecordedEvent) => {
    const subject = subjectOf(application, event);
    counts.set(subject, counts.get(subject)! + 1);
    first = Math.min(first, event.position);
  };
  const noting = () => redacted(application, source, head, subjects, note);
  const newVerified = await verifyExport(application, noting, (done) => {
    step({ phase: "verify_redacted", done });
  });
  const without = subjects.find((subject) => counts.get(subject) === 0);
  if (without !== undefined) {
    throw new RefusedError("nothing_to_erase", `No event has personal data of ${without}`);
  }
  const plain = () => redacted(application, source, head, subjects);
  return { source: plain, verified: newVerified, counts, kept: first - 1 };
}

async function write(
  { application, source, verified, step }: Run,
  target: string | StoreLocation | ToolStore,
  { onSchemaCreated }: RestoreOptions,
): Promise<void> {
  const { position: total } = verified;
  step({ phase: "write", done: 0, total });
  const progress = (done: number) => step({ phase: "write", done, total });
  if (typeof target === "object" && "store" in target) {
    const { runtime } = target;
    const store = patientStore(target);
    await writeExport({ application, store, runtime }, source, verified, progress);
    return;
  }
  const opened = await openStore(typeof target === "string" ? locationOf(target) : target, {
    create: true,
    program: application.dashedName,
    // The restore itself checks the content of the store.
    accept: async () => {},
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
    onSchemaCreated,
  });
  try {
    const deps = { application, store: opened, runtime: systemRuntime };
    await writeExport({ ...deps, store: patientStore(deps) }, source, verified, progress);
  } finally {
    opened.close();
  }
}
