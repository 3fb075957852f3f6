/**
 * Tools for operators: they audit, replay, back up, restore, export and publish the log of an application. Each one is a
 * function on a store, on the location of a store or on an export. It returns its result, reports its progress to a
 * function, ends when a signal is aborted, and never prints.
 *
 * ```ts
 * const { sound, position, hash } = await audit(store);
 * await backup(store, "bookings.jsonl");
 * await restore("bookings.jsonl", application, "restored.sqlite3");
 * ```
 *
 * @module
 */

export { fileRemedy } from "./runtime/file_remedy.ts";
export { realPath } from "./runtime/real_path.ts";
export { shellWord } from "./runtime/shell_word.ts";
export { audit, type AuditOptions } from "./tools/audit.ts";
export {
  backup,
  type BackupOptions,
  type BackupProgress,
  type BackupReport,
  IncompleteBackupError,
} from "./tools/backup.ts";
export type { ConsumerReport } from "./consumers/consumer_report.ts";
export { placeConsumer, readConsumers } from "./tools/consumers.ts";
export {
  exportLog,
  type ExportRange,
  type ExportRecovery,
  type ExportReport,
} from "./tools/export_log.ts";
export { type FollowDeps, followLog, type FollowRange } from "./tools/follow_log.ts";
export { type AuditRun, type BackupRun, type LastRuns, readLastRuns } from "./tools/last_runs.ts";
export { type OpenedToRead, openToRead } from "./tools/open_to_read.ts";
export { openPublished, type Proof, prove } from "./tools/prove.ts";
export { publish, type PublishOptions, type PublishReport } from "./tools/publish.ts";
export { readRegularFile } from "./tools/published/published_folder.ts";
export type { TreeHead } from "./tools/published/merkle_tree.ts";
export type { PublishedLog } from "./tools/published/published_log.ts";
export type { SignedCheckpoint } from "./tools/published/signed_note.ts";
export type { ReadPublished, TileTree } from "./tools/published/tile_tree.ts";
export type { ReplayPhase, ReplayReport } from "./tools/rebuild.ts";
export { RefusedError } from "./tools/refused_error.ts";
export { replaceableAt, replaceFile } from "./tools/replace_file.ts";
export { replay, type ReplayOptions } from "./tools/replay.ts";
export {
  restore,
  type RestoreOptions,
  type RestorePhase,
  type RestoreReport,
} from "./tools/restore.ts";
export type { EndOfTime } from "./tools/restore/first_lines.ts";
export { status, type StoreStatus } from "./tools/status.ts";
export type { StoreFacts } from "./tools/store_facts.ts";
export { ToolError, type ToolErrorCode } from "./tools/tool_error.ts";
export type { Progress, ToolOptions } from "./tools/tool_options.ts";
export type { Export, ExportedLog, StoreAt, ToolStore } from "./tools/tool_store.ts";
export { type UnsoundDetails, UnsoundError } from "./tools/unsound_error.ts";
export { type Conversion, ConvertedError } from "./tools/verify/conversion.ts";
export type { AuditReport, Fault, FaultKind, Note, NoteKind } from "./tools/verify/findings.ts";
export { AuditCheckpoint, type AuditPhase } from "./tools/verify/log_audit.ts";
