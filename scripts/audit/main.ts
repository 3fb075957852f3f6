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
import { PublishedComparison } from "../publish/published_comparison.ts";
import { PublishedLog } from "../publish/published_log.ts";
import { acceptUnlessRestoring } from "../../src/log/accept_store.ts";
import { splitLines } from "../../src/log/lines.ts";
import { SOME_IDEMPOTENCY_KEY } from "../../src/keyspace.ts";
import { expiringRecordsOf } from "../../src/store/read_expiring_records.ts";
import { openFileToRead, OpenStoreError } from "../../src/store/open_store.ts";
import { StoreDamagedError } from "../../src/store/store_errors.ts";
import { commandVariables } from "../../src/settings/variables.ts";
import { expectFolderOf, readLogEnd, writeLogEnd } from "./log_end_file.ts";
import { count, ProgressReporter } from "../cli/progress_reporter.ts";
import { readPublished } from "../publish/published_folder.ts";
import { EXIT, print, runCommand, UsageError, withRetryingStore } from "../cli/run_command.ts";

const HELP = `
Reads the whole store again and checks it against the log: the format, hash, position and data of every
line, the head, and every record of the projections. If the store is a file or a database, the audit also
checks that only idempotency records are set to expire. It writes nothing to the store. It works while the
service runs, and covers the events up to the newest one at its start.

  deno task audit [--json] [--checkpoint FILE] [--published DIR] [--file EXPORT]

  --json              prints the report as one JSON object
  --checkpoint FILE   also checks that the log extends the checkpoint in that file, if the file exists,
                      and writes a new checkpoint if the log is sound. Keep the file away from the store.
  --published DIR     also checks that the log extends what deno task publish wrote into that folder
  --file EXPORT       audits an export of deno task log (- for standard input) instead of the store. A
                      partial one (log --from) is verified from its first line.

If the log is not sound, the audit says what to do next.

${commandVariables()}

Exit codes: 0 sound, 1 not sound, 2 the audit could not run.
`;

const progress = new ProgressReporter();
const CHECKING = { title: "Auditing", unit: "events" };

await runCommand({
  help: HELP,
  options: {
    json: { type: "boolean" },
    checkpoint: { type: "string" },
    published: { type: "string" },
    file: { type: "string" },
  },
  interrupt() {
    progress.end();
    return "The audit has no result, and wrote nothing. Run it again.";
  },
  async run({ json = false, checkpoint: path, published: folder, file }, positionals) {
    if (positionals.length > 0) {
      throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[0])}`);
    }
    if (path !== undefined) await expectFolderOf(path);
    const checkpoint = path === undefined ? undefined : await readLogEnd(path);
    const published = folder === undefined ? undefined : new PublishedLog(readPublished(folder));
    const options: AuditOptions = {
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(published && { comparePublished: () => new PublishedComparison(published) }),
      progress: (done, total) => progress.update(CHECKING, done, total),
    };
    const report = await auditWhat(file, options).finally(() => progress.end());
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
