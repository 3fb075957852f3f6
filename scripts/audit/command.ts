/** `deno task audit`: proves that a store or an exported log is sound, or reports its faults. */

import { APPLICATION } from "../../src/application.ts";
import { reasonOf, type StoreLocation } from "eventstore-less/startup";
import {
  audit,
  AuditCheckpoint,
  type AuditReport,
  openPublished,
  openToRead,
  type PublishedLog,
  readLastRuns,
  realPath,
  replaceableAt,
  replaceFile,
} from "eventstore-less/tools";
import { statOf } from "eventstore-less/store";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { formatCounted } from "../cli/format.ts";
import { exportAt } from "../cli/log_source.ts";
import { progressOf } from "../cli/progress.ts";
import { EXIT, operatorCommand, print } from "../cli/run_command.ts";
import type { AdviceContext } from "./advice.ts";
import { describeReport, reportInJson } from "./describe_report.ts";

const showAuditing = progressOf("Auditing", "events");

interface Flags {
  json?: boolean;
  checkpoint?: string;
  published?: string;
  file?: string;
}

export const command = operatorCommand<Flags>({
  interrupt: () => "Interrupted. The audit has no result, and wrote nothing. Run it again.",
  async run({ json = false, checkpoint: name, published: folder, file }) {
    const path = name === undefined ? undefined : realPath(name);
    const checkpoint = path === undefined ? undefined : await readCheckpoint(path);
    const published = folder === undefined ? undefined : openFolder(folder);
    const isExport = file !== undefined;
    const log = isExport
      ? await exportAt(file)
      : { application: APPLICATION, location: configuredStore() };
    const report = await audit(log, {
      checkpoint,
      published,
      onProgress({ phase, done, total }) {
        if (phase === "log") showAuditing(done, total);
      },
    });
    const extended: string[] = [];
    if (checkpoint !== undefined) extended.push("The log extends the checkpoint.");
    if (published !== undefined) {
      const events = formatCounted(published.checkpoint.size, "event");
      extended.push(`The log extends the published log of ${events}.`);
    }
    const context: AdviceContext = {
      isExport,
      checkpoint: name,
      published: folder,
      ...(isExport ? { backup: file === "-" ? undefined : file } : await contextOfStore(report)),
    };
    const text = json
      ? reportInJson(report, context)
      : describeReport(report, { ...context, extended });
    await print(escapeInvisible(text));
    if (report.faults.length > 0) return EXIT.refused;
    if (report.unfinished !== undefined) return EXIT.noResult;
    if (path !== undefined) {
      const { position, hash } = report;
      await replaceFile(path, `${JSON.stringify({ position, hash })}\n`);
    }
  },
});

/** The names for an advice on the configured store: its file, and its last backup, if its record can be read. */
async function contextOfStore(
  { sound }: AuditReport,
): Promise<Pick<AdviceContext, "store" | "backup">> {
  if (sound) return {};
  const location = configuredStore();
  return {
    store: location.kind === "file" ? location.path : undefined,
    backup: await lastBackup(location).catch(() => undefined),
  };
}

async function lastBackup(location: StoreLocation): Promise<string | undefined> {
  using reader = await openToRead({ application: APPLICATION, location });
  return (await readLastRuns(reader.store)).backup?.file;
}

/** Opens a published log. If it is damaged, the audit could not run, which says nothing about the store. */
function openFolder(folder: string): PublishedLog {
  try {
    return openPublished(folder);
  } catch (error) {
    throw new Error(reasonOf(error));
  }
}

/** Otherwise, a checkpoint could not be written after the audit. */
async function expectFolderOf(path: string): Promise<void> {
  if (await statOf(dirname(path)) !== undefined) return;
  throw Object.assign(new Error(`Cannot write ${path}`), { code: "ENOENT", path });
}

/** The checkpoint in a file; `undefined` if the file does not exist yet. Its folder must exist. */
async function readCheckpoint(path: string): Promise<AuditCheckpoint | undefined> {
  await expectFolderOf(path);
  if (await replaceableAt(path) === undefined) return undefined;
  const text = await readFile(path, "utf8");
  try {
    return AuditCheckpoint.parse(JSON.parse(text));
  } catch {
    throw new Error(`${path} does not contain a checkpoint`);
  }
}
