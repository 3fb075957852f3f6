import { acceptUnlessRestoring } from "../../src/log/accept_store.ts";
import { EMPTY_HEAD } from "../../src/log/head.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { readStoreConfig } from "../../src/settings/config.ts";
import { openFileToRead, OpenStoreError } from "../../src/store/open_store.ts";
import { StoreDamagedError } from "../../src/store/store_errors.ts";
import { withRetryingStore } from "../cli/run_command.ts";
import { audit } from "../verify/audit.ts";
import { type AuditReport, Findings } from "../verify/findings.ts";
import type { AuditOptions } from "../verify/log_audit.ts";
import { expiringRecordsOf } from "./read_expiring_records.ts";

/** Audits the configured store, also if its file is damaged. */
export async function auditStore(options: AuditOptions): Promise<AuditReport> {
  const { store: location } = readStoreConfig();
  const readExpiringRecords = expiringRecordsOf(location);
  try {
    if (location.kind === "file") {
      using reader = await openFileToRead(location);
      reader.checkStructure();
    }
    return await withRetryingStore(
      { accept: acceptUnlessRestoring },
      (deps) => audit({ ...deps, readExpiringRecords }, options),
    );
  } catch (error) {
    const damage = error instanceof OpenStoreError ? error.damage : error;
    if (!(damage instanceof StoreDamagedError) || location.kind !== "file") throw error;
    try {
      // Deno KV does not say which record it cannot decode, and a damaged index ends its process.
      using store = await openFileToRead(location);
      return await audit({ store, runtime: systemRuntime, readExpiringRecords, damage }, options);
    } catch (error) {
      if (!(error instanceof OpenStoreError) || error.damage === undefined) throw error;
      return new Findings(error.damage).report(EMPTY_HEAD);
    }
  }
}
