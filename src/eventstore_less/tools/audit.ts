import { GUARD_KEYS } from "../keyspace.ts";
import { systemRuntime } from "../runtime/system_runtime.ts";
import { openFileToRead } from "../store/open_store.ts";
import { expectSoundTables } from "../store/sqlite/expect_sound_tables.ts";
import { SqliteReader } from "../store/sqlite/sqlite_reader.ts";
import { SqliteStore } from "../store/sqlite/sqlite_store.ts";
import { NO_WRITER } from "../store/sqlite/sqlite_writer.ts";
import { StoreDamagedError } from "../store/store_errors.ts";
import type { FileLocation } from "../store/store_location.ts";
import type { Application } from "../application.ts";
import { linesOf } from "./lines_of.ts";
import { expectAcceptable, openAt, patientStore, storeLocationOf } from "./open_to_read.ts";
import type { PublishedLog } from "./published/published_log.ts";
import { type Progress, stepOf, type ToolOptions } from "./tool_options.ts";
import type { ExportedLog, StoreAt, ToolStore } from "./tool_store.ts";
import { type AuditDeps, auditLines, auditStore } from "./verify/audit.ts";
import type { AuditReport } from "./verify/findings.ts";
import type { AuditCheckpoint, AuditPhase, LogAuditOptions } from "./verify/log_audit.ts";

/** What an audit compares the log with, and how far it is. */
export interface AuditOptions extends ToolOptions<Progress<AuditPhase>> {
  /** The position and the hash of an earlier sound audit, which this log must extend. */
  checkpoint?: AuditCheckpoint;
  /** The published log, which this log must extend, too. {@linkcode openPublished} opens it. */
  published?: PublishedLog;
}

/**
 * Proves that the log, the head and every record of a store are sound as of its head at the start, or reports the faults;
 * others may append meanwhile. Of an export, it audits the lines. Writes nothing.
 *
 * A store at a location may be damaged, so that it cannot be opened in another way. Rejects with `OpenStoreError` if there
 * is none, and with `ToolError` (`export_partial`) if an export does not begin with the first event.
 *
 * ```ts
 * const { sound, position, hash } = await audit(store);
 * const report = await audit({ application, location: "bookings.sqlite3" });
 * ```
 */
export async function audit(
  log: ToolStore | StoreAt | ExportedLog,
  options: AuditOptions = {},
): Promise<AuditReport> {
  const { checkpoint, published } = options;
  const logOptions = { checkpoint, published, step: stepOf(options) };
  if ("source" in log) return await auditLines(log.application, linesOf(log), logOptions);
  if ("store" in log) return await auditOpen(log, logOptions);
  const { application } = log;
  const location = storeLocationOf(log);
  if (location.kind === "file") return await auditFile(application, location, logOptions);
  const store = await openAt(application, location);
  // The tables of PostgreSQL have no times of expiry; Deno KV and KV Connect hide them.
  const readExpiringRecords = location.kind === "postgres" ? () => [] : undefined;
  try {
    const deps = { application, store, runtime: systemRuntime, readExpiringRecords };
    return await auditOpen(deps, logOptions);
  } finally {
    store.close();
  }
}

/** Audits an open store. If its file turns out to be damaged, audits what can be read. */
async function auditOpen(
  { application, store, runtime, readExpiringRecords }: AuditDeps,
  options: LogAuditOptions,
): Promise<AuditReport> {
  const deps = { application, runtime, readExpiringRecords };
  try {
    return await auditStore({ ...deps, store: patientStore({ ...deps, store }) }, options);
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
    return await auditStore({ ...deps, store, damage: error }, options);
  }
}

/** Audits a file without Deno KV, which does not say which record it cannot decode. */
async function auditFile(
  application: Application,
  location: FileLocation,
  options: LogAuditOptions,
): Promise<AuditReport> {
  const deps = {
    application,
    runtime: systemRuntime,
    *readExpiringRecords() {
      using reader = new SqliteReader(location.path);
      yield* reader.expiringRecords();
    },
  };
  using reader = await openFileToRead(location);
  const damage = await damageOfFile(location, reader);
  if (damage !== undefined) return await auditStore({ ...deps, store: reader, damage }, options);
  const store = patientStore({ ...deps, store: new SqliteStore(reader, NO_WRITER) });
  try {
    await expectAcceptable(application, store, location);
    return await auditStore({ ...deps, store }, options);
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
    return await auditStore({ ...deps, store: reader, damage: error }, options);
  }
}

/** The damage of the file that is found before any record is judged; `undefined` without one. */
async function damageOfFile(
  { path }: FileLocation,
  reader: SqliteReader,
): Promise<StoreDamagedError | undefined> {
  try {
    reader.checkStructure();
    await expectSoundTables(path, GUARD_KEYS);
  } catch (error) {
    if (error instanceof StoreDamagedError) return error;
    throw error;
  }
}
