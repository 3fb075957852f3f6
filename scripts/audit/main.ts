/**
 * Audits a store or an exported log: proves that it is sound, or reports its faults.
 *
 *     deno task audit [--json] [--checkpoint FILE] [--published DIR] [--file EXPORT]
 */

import { audit, auditLines, type AuditOptions, unreadableReport } from "./audit.ts";
import { type AuditReport, describe } from "./findings.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { readStoreConfig } from "../../src/settings/config.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { PublishedComparison, PublishedLog } from "../publish/published_log.ts";
import { acceptUnlessRestoring } from "../../src/log/accept_store.ts";
import { splitLines } from "../../src/log/lines.ts";
import { SOME_IDEMPOTENCY_KEY } from "../../src/keyspace.ts";
import { expiringRecordsOf } from "../../src/store/read_expiring_records.ts";
import { openFileToRead, OpenStoreError } from "../../src/store/open_store.ts";
import { StoreDamagedError } from "../../src/store/store_errors.ts";
import { expectFolderOf, readLogEnd, writeLogEnd } from "./log_end_file.ts";
import { count } from "../cli/count.ts";
import { ProgressReporter } from "../cli/progress_reporter.ts";
import { readPublished } from "../publish/published_folder.ts";
import { EXIT, print, runCommand, withRetryingStore } from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";

const progress = new ProgressReporter();
const CHECKING = { title: "Auditing", unit: "events" };

await runCommand(COMMANDS.audit, {
  progress,
  interrupt: () => "The audit has no result, and wrote nothing. Run it again.",
  async run({ json = false, checkpoint: path, published: folder, file }) {
    if (path !== undefined) await expectFolderOf(path);
    const checkpoint = path === undefined ? undefined : await readLogEnd(path);
    const published = folder === undefined ? undefined : new PublishedLog(readPublished(folder));
    const options: AuditOptions = {
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(published && { comparePublished: () => new PublishedComparison(published) }),
      progress: (done, total) => progress.update(CHECKING, done, total),
    };
    const report = await auditWhat(file, options);
    progress.end();
    const extended = [
      ...(checkpoint === undefined ? [] : ["The log extends the checkpoint."]),
      ...(published === undefined
        ? []
        : [`The log extends the published log of ${count(published.size)} events.`]),
    ];
    await print(escapeInvisible(json ? JSON.stringify(report) : describe(report, extended)));
    if (report.sound && file === undefined) progress.reportSoundAudit();
    if (path !== undefined && report.sound) {
      await writeLogEnd(path, { position: report.position, hash: report.hash });
    }
    return report.sound ? EXIT.done : EXIT.refused;
  },
});

async function auditWhat(file: string | undefined, options: AuditOptions): Promise<AuditReport> {
  if (file === undefined) return await auditStore(options);
  const stream = file === "-" ? Deno.stdin.readable : (await Deno.open(file)).readable;
  return await auditLines(splitLines(stream), options);
}

async function auditStore(options: AuditOptions): Promise<AuditReport> {
  const { store: location } = readStoreConfig();
  const readExpiringRecords = expiringRecordsOf(location, systemRuntime, SOME_IDEMPOTENCY_KEY);
  let damage: StoreDamagedError | undefined;
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
    damage = error instanceof OpenStoreError ? error.damage : undefined;
    if (error instanceof StoreDamagedError) damage = error;
    if (damage === undefined || location.kind !== "file") throw error;
  }
  progress.end();
  try {
    // Deno KV does not say which record it cannot decode, and a damaged index ends its process.
    using store = await openFileToRead(location);
    return await audit({ store, runtime: systemRuntime, readExpiringRecords, damage }, options);
  } catch (error) {
    if (error instanceof OpenStoreError && error.damage) return unreadableReport(error.damage);
    throw error;
  }
}
