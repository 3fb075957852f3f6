import { acceptUnlessRestoring, openFileToRead, OpenStoreError } from "eventstore-less/store/open";
import { EMPTY_HEAD, GUARD_KEYS } from "eventstore-less/head";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import {
  expectSoundTables,
  NO_WRITER,
  type SqliteReader,
  SqliteStore,
} from "eventstore-less/store/file";
import type { FileLocation } from "eventstore-less/store/location";
import { StoreDamagedError } from "eventstore-less/errors";
import { configuredStore } from "../cli/configured_store.ts";
import { retryingStore, withRetryingStore } from "../cli/run_command.ts";
import { expectAcceptable } from "../cli/with_reader.ts";
import { audit } from "../verify/audit.ts";
import { type AuditReport, Findings } from "../verify/findings.ts";
import type { AuditOptions } from "../verify/log_audit.ts";
import { expiringRecordsOf } from "./read_expiring_records.ts";

/** Audits the configured store, also if its file is damaged. */
export async function auditStore(options: AuditOptions): Promise<AuditReport> {
  const location = configuredStore();
  if (location.kind === "file") return await auditFile(location, options);
  const readExpiringRecords = expiringRecordsOf(location);
  return await withRetryingStore(
    { accept: acceptUnlessRestoring },
    (deps) => audit({ ...deps, readExpiringRecords }, options),
  );
}

/**
 * Audits a file without Deno KV, which ends the process at some damages, does not say which record it cannot decode, and
 * cannot open a file on a read-only file system.
 */
async function auditFile(location: FileLocation, options: AuditOptions): Promise<AuditReport> {
  const deps = { runtime: systemRuntime, readExpiringRecords: expiringRecordsOf(location) };
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
    return new Findings(error.damage).report(EMPTY_HEAD);
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
