/** `deno task audit`: proves that a store or an exported log is sound, or reports its faults. */

import { dirname } from "node:path";
import { auditLines } from "../verify/audit.ts";
import { auditStore } from "./audit_store.ts";
import { describe } from "../verify/findings.ts";
import { AuditCheckpoint, type AuditOptions } from "../verify/log_audit.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { PublishedLog } from "../published/published_log.ts";
import { count } from "../cli/format.ts";
import { withLog } from "../cli/log_source.ts";
import { progressOf, reportSoundAudit } from "../cli/progress.ts";
import { readPublished } from "../published/published_folder.ts";
import { EXIT, print, runCommand } from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";

await runCommand(COMMANDS.audit, {
  interrupt: () => "Interrupted. The audit has no result, and wrote nothing. Run it again.",
  async run({ json = false, checkpoint: path, published: folder, file }) {
    const checkpoint = path === undefined ? undefined : await readCheckpoint(path);
    const published = folder === undefined ? undefined : openPublished(folder);
    const options: AuditOptions = {
      checkpoint,
      published,
      progress: progressOf("Auditing", "events"),
    };
    const report = file === undefined
      ? await auditStore(options)
      : await withLog(file, (readLines) => auditLines(readLines(1), options));
    const extended = [
      checkpoint && "The log extends the checkpoint.",
      published &&
      `The log extends the published log of ${count(published.checkpoint.size)} events.`,
    ].filter((sentence) => sentence !== undefined);
    await print(escapeInvisible(json ? JSON.stringify(report) : describe(report, extended)));
    if (report.sound && file === undefined) reportSoundAudit();
    if (path !== undefined && report.sound) {
      await writeCheckpoint(path, { position: report.position, hash: report.hash });
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

/**
 * The checkpoint in a file that an operator keeps outside of the store, or `undefined` if the file does not exist yet.
 * Its folder must exist.
 */
async function readCheckpoint(path: string): Promise<AuditCheckpoint | undefined> {
  let text: string;
  try {
    text = await Deno.readTextFile(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    // Otherwise, a checkpoint could not be written after the audit.
    await Deno.stat(dirname(path));
    return undefined;
  }
  try {
    return AuditCheckpoint.parse(JSON.parse(text));
  } catch {
    throw new Error(`${path} does not contain a checkpoint`);
  }
}

/** Replaces the file atomically: a reader finds either the old checkpoint or the new one. */
async function writeCheckpoint(path: string, checkpoint: AuditCheckpoint): Promise<void> {
  // In the same folder, because a rename is atomic only within a file system.
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await Deno.writeTextFile(draft, `${JSON.stringify(checkpoint)}\n`, { createNew: true });
    using file = await Deno.open(draft, { write: true });
    await file.sync();
    await Deno.rename(draft, path);
  } catch (error) {
    await Deno.remove(draft).catch(() => {});
    throw error;
  }
}
