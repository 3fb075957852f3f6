import { OpenStoreError } from "eventstore-less";
import { acceptUnlessRestoring, EMPTY_HEAD, GUARD_KEYS } from "eventstore-less/parts";
import { type FileLocation, systemRuntime } from "eventstore-less/startup";
import {
  expectSoundTables,
  NO_WRITER,
  openFileToRead,
  type SqliteReader,
  SqliteStore,
  StoreDamagedError,
} from "eventstore-less/store";
import { audit, type AuditOptions, type AuditReport, Findings } from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { retryingStore, withRetryingStore } from "../cli/run_command.ts";
import { expectAcceptable } from "../cli/with_reader.ts";
import { expiringRecordsOf } from "./read_expiring_records.ts";

/** Audits the configured store, also if its file is damaged. */
export async function auditStore(options: AuditOptions): Promise<AuditReport> {
  const location = configuredStore();
  if (location.kind === "file") return await auditFile(location, options);
  const readExpiringRecords = expiringRecordsOf(location);
  return await withRetryingStore(
    { accept: (store) => acceptUnlessRestoring(APPLICATION, store) },
    (deps) => audit({ application: APPLICATION, ...deps, readExpiringRecords }, options),
  );
}

/**
 * Audits a file without Deno KV, which ends the process at some damages, does not say which record it cannot decode, and
 * cannot open a file on a read-only file system.
 */
async function auditFile(location: FileLocation, options: AuditOptions): Promise<AuditReport> {
  const readExpiringRecords = expiringRecordsOf(location);
  const deps = { application: APPLICATION, runtime: systemRuntime, readExpiringRecords };
  try {
    using reader = await openFileToRead(location);
    const damage = await damageOfFile(location, reader);
    if (damage !== undefined) return await audit({ ...deps, store: reader, damage }, options);
    try {
      const store = retryingStore(new SqliteStore(reader, NO_WRITER));
      await expectAcceptable(store, location);
      return await audit({ ...deps, store }, options);
    } catch (error) {
      if (!(error instanceof StoreDamagedError)) throw error;
      return await audit({ ...deps, store: reader, damage: error }, options);
    }
  } catch (error) {
    if (!(error instanceof OpenStoreError) || error.damage === undefined) throw error;
    return new Findings(APPLICATION, error.damage).report(EMPTY_HEAD);
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
