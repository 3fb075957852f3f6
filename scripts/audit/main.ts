/** `deno task audit`: proves that a store or an exported log is sound, or reports its faults. */

import { dirname } from "node:path";
import { acceptUnlessRestoring } from "../../src/log/accept_store.ts";
import { EMPTY_HEAD } from "../../src/log/head.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { readStoreConfig } from "../../src/settings/config.ts";
import { statOf } from "../../src/store/deno_kv/store_file.ts";
import { openFileToRead, OpenStoreError } from "../../src/store/open_store.ts";
import { StoreDamagedError } from "../../src/store/store_errors.ts";
import { count } from "../cli/format.ts";
import { withLog } from "../cli/log_source.ts";
import { progressOf, reportSoundAudit } from "../cli/progress.ts";
import { EXIT, print, runCommand, withRetryingStore } from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";
import { readPublished } from "../published/published_folder.ts";
import { PublishedLog } from "../published/published_log.ts";
import { audit, auditLines } from "../verify/audit.ts";
import { type AuditReport, describe, Findings } from "../verify/findings.ts";
import { AuditCheckpoint, type AuditOptions } from "../verify/log_audit.ts";
import { expiringRecordsOf } from "./read_expiring_records.ts";

await runCommand(COMMANDS.audit, {
  interrupt: () => "Interrupted. The audit has no result, and wrote nothing. Run it again.",
  async run({ json = false, checkpoint: path, published: folder, file }) {
    const checkpoint = path === undefined ? undefined : await readCheckpoint(path);
    const published = folder === undefined ? undefined : openPublished(folder);
    const options = { checkpoint, published, progress: progressOf("Auditing", "events") };
    const report = file === undefined
      ? await auditStore(options)
      : await withLog(file, (readLines) => auditLines(readLines(1), options));
    const extended: string[] = [];
    if (checkpoint !== undefined) extended.push("The log extends the checkpoint.");
    if (published !== undefined) {
      const events = count(published.checkpoint.size);
      extended.push(`The log extends the published log of ${events} events.`);
    }
    await print(escapeInvisible(json ? JSON.stringify(report) : describe(report, extended)));
    if (!report.sound) return EXIT.refused;
    if (file === undefined) reportSoundAudit();
    if (path !== undefined) await writeCheckpoint(path, report);
  },
});

/** Audits the configured store, also if its file is damaged. */
async function auditStore(options: AuditOptions): Promise<AuditReport> {
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

/** Opens a published log. If it is damaged, the audit could not run, which says nothing about the store. */
function openPublished(folder: string): PublishedLog {
  try {
    return new PublishedLog(readPublished(folder));
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

/** The checkpoint in a file; `undefined` if the file does not exist yet. Its folder must exist. */
async function readCheckpoint(path: string): Promise<AuditCheckpoint | undefined> {
  // Otherwise, a checkpoint could not be written after the audit.
  await Deno.stat(dirname(path));
  if (await statOf(path) === undefined) return undefined;
  const text = await Deno.readTextFile(path);
  try {
    return AuditCheckpoint.parse(JSON.parse(text));
  } catch {
    throw new Error(`${path} does not contain a checkpoint`);
  }
}

/** Replaces the file atomically: a reader finds either the old checkpoint or the new one. */
async function writeCheckpoint(path: string, { position, hash }: AuditReport): Promise<void> {
  // In the same folder, because a rename is atomic only within a file system.
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(draft, `${JSON.stringify({ position, hash })}\n`, { createNew: true });
    using file = await Deno.open(draft, { write: true });
    await file.sync();
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}
