/** `deno task report`: prints a page about the log for people who would rather look than read. */

import { readStoreConfig } from "../../src/settings/config.ts";
import { locationName } from "../../src/store/store_location.ts";
import { auditLines } from "../audit/audit.ts";
import { auditStore } from "../audit/audit_store.ts";
import { withLog } from "../cli/log_source.ts";
import { progressOf } from "../cli/progress.ts";
import { EXIT, print, runCommand, UsageError } from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";
import { LogStatistics } from "./log_statistics.ts";
import { loadCharts } from "./report_charts.ts";
import { reportPage } from "./report_page.ts";

const showRead = progressOf("Reading", "events");

await runCommand(COMMANDS.report, {
  interrupt: () => "Interrupted. Nothing was printed. Run deno task report again.",
  async run({ audit: isAudited = false, file }) {
    if (Deno.stdout.isTerminal()) {
      throw new UsageError("The page is for a file: deno task report > report.html");
    }
    const draw = await loadCharts();
    const statistics = new LogStatistics();
    const audit = await read(statistics, isAudited, file);
    const source = file === undefined
      ? locationName(readStoreConfig().store)
      : `the export ${file === "-" ? "from standard input" : file}`;
    await print(reportPage({ statistics, source, audit, draw, now: Date.now() }).trimEnd());
    return audit === undefined || audit.sound ? EXIT.done : EXIT.refused;
  },
});

async function read(statistics: LogStatistics, isAudited: boolean, file: string | undefined) {
  const audit = await withLog(file, async (readLines) => {
    const lines = counted(readLines(1), statistics);
    // The audit and the statistics share one pass, because standard input can be read only once.
    if (isAudited && file !== undefined) return await auditLines(lines);
    for await (const _ of lines);
  });
  if (!isAudited || file !== undefined) return audit;
  return await auditStore({ progress: progressOf("Auditing", "events") });
}

/** Yields lines after the statistics have counted them. */
async function* counted(
  batches: AsyncIterable<Uint8Array[]>,
  statistics: LogStatistics,
): AsyncGenerator<Uint8Array[]> {
  for await (const lines of batches) {
    statistics.add(lines);
    showRead(statistics.lines);
    yield lines;
  }
}
