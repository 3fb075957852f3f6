/**
 * Audits a store or an exported log: proves that it is sound, or reports its faults.
 *
 *     deno task audit [--json] [--checkpoint FILE] [--published DIR] [--file EXPORT]
 */

import { auditLines, type AuditOptions } from "./audit.ts";
import { auditStore } from "./audit_store.ts";
import { describe } from "./findings.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { PublishedComparison, PublishedLog } from "../publish/published_log.ts";
import { readLogEnd, writeLogEnd } from "./log_end_file.ts";
import { count } from "../cli/count.ts";
import { withLog } from "../cli/log_source.ts";
import { progressOf, reportSoundAudit } from "../cli/progress.ts";
import { readPublished } from "../publish/published_folder.ts";
import { EXIT, print, runCommand } from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";

await runCommand(COMMANDS.audit, {
  interrupt: () => "Interrupted. The audit has no result, and wrote nothing. Run it again.",
  async run({ json = false, checkpoint: path, published: folder, file }) {
    const checkpoint = path === undefined ? undefined : await readLogEnd(path);
    const published = folder === undefined ? undefined : openPublished(folder);
    const options: AuditOptions = {
      ...(checkpoint === undefined ? {} : { checkpoint }),
      ...(published && { comparePublished: () => new PublishedComparison(published) }),
      progress: progressOf("Auditing", "events"),
    };
    const report = file === undefined
      ? await auditStore(options)
      : await withLog(file, (readLines) => auditLines(readLines(1), options));
    const extended = [
      ...(checkpoint === undefined ? [] : ["The log extends the checkpoint."]),
      ...(published === undefined
        ? []
        : [`The log extends the published log of ${count(published.checkpoint.size)} events.`]),
    ];
    await print(escapeInvisible(json ? JSON.stringify(report) : describe(report, extended)));
    if (report.sound && file === undefined) reportSoundAudit();
    if (path !== undefined && report.sound) {
      await writeLogEnd(path, { position: report.position, hash: report.hash });
    }
    return report.sound ? EXIT.done : EXIT.refused;
  },
});

/** Opens a published log. If it is damaged, the audit could not run, which says nothing about the store. */
function openPublished(folder: string): PublishedLog {
  try {
    return new PublishedLog(readPublished(folder));
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}
