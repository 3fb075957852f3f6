/**
 * Prints a page about the log for people who would rather look than read.
 *
 *     deno task report [--audit] [--file EXPORT] > report.html
 */

import { readStoreConfig } from "../../src/settings/config.ts";
import { audit, auditLines } from "../audit/audit.ts";
import type { AuditReport } from "../audit/findings.ts";
import { LogStatistics } from "./log_statistics.ts";
import { readHead } from "../../src/log/head.ts";
import { splitLines } from "../../src/log/lines.ts";
import { readLogByRecord } from "../../src/log/read_log.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { SOME_IDEMPOTENCY_KEY } from "../../src/keyspace.ts";
import { expiringRecordsOf } from "../../src/store/read_expiring_records.ts";
import { locationName } from "../../src/store/store_location.ts";
import { ProgressReporter } from "../cli/progress_reporter.ts";
import { loadCharts } from "./report_charts.ts";
import { reportPage } from "./report_page.ts";
import { EXIT, print, runCommand, UsageError, withRetryingStore } from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";

const READING = { title: "Reading", unit: "events" };
const CHECKING = { title: "Auditing", unit: "events" };

const progress = new ProgressReporter();

await runCommand(COMMANDS.report, {
  progress,
  interrupt: () => "Nothing was printed. Run deno task report again.",
  async run({ audit: isAudited = false, file }) {
    if (Deno.stdout.isTerminal()) {
      throw new UsageError("The page is for a file: deno task report > report.html");
    }
    const draw = await loadCharts();
    const statistics = new LogStatistics();
    const read = file === undefined ? readStore : readFile;
    const audit = await read(statistics, isAudited, file ?? "");
    progress.end();
    const source = file === undefined
      ? locationName(readStoreConfig().store)
      : `the export ${file === "-" ? "from standard input" : file}`;
    await print(reportPage({ statistics, source, audit, draw, now: Date.now() }).trimEnd());
    return audit === undefined || audit.sound ? EXIT.done : EXIT.refused;
  },
});

async function readStore(
  statistics: LogStatistics,
  isAudited: boolean,
): Promise<AuditReport | undefined> {
  return await withRetryingStore({}, async (deps) => {
    const { position } = (await readHead(deps.store)).head;
    for await (const records of readLogByRecord(deps.store, { from: 1, to: position })) {
      for (const { lines, versionstamp } of records) {
        statistics.addRecord(lines.map(({ line }) => line), versionstamp);
      }
      progress.update(READING, statistics.lines, position);
    }
    if (!isAudited) return undefined;
    const readExpiringRecords = expiringRecordsOf(
      readStoreConfig().store,
      systemRuntime,
      SOME_IDEMPOTENCY_KEY,
    );
    return await audit({ ...deps, readExpiringRecords }, {
      progress: (done, total) => progress.update(CHECKING, done, total),
    });
  });
}

async function readFile(
  statistics: LogStatistics,
  isAudited: boolean,
  file: string,
): Promise<AuditReport | undefined> {
  const stream = file === "-" ? Deno.stdin.readable : (await Deno.open(file)).readable;
  const lines = counted(splitLines(stream), statistics);
  // The audit and the statistics share one pass, because standard input can be read only once.
  if (isAudited) return await auditLines(lines);
  for await (const _ of lines);
}

/** Yields lines after the statistics have counted them. */
async function* counted(
  batches: AsyncIterable<Uint8Array[]>,
  statistics: LogStatistics,
): AsyncGenerator<Uint8Array[]> {
  for await (const lines of batches) {
    statistics.add(lines);
    progress.update(READING, statistics.lines);
    yield lines;
  }
}
