/** Tools for operators: they audit, replay, back up, restore, export and publish the log of an application. */

export { realPath } from "./runtime/real_path.ts";
export { audit, type AuditOptions } from "./tools/audit.ts";
export {
  backup,
  type BackupOptions,
  type BackupProgress,
  type BackupReport,
  IncompleteBackupError,
} from "./tools/backup.ts";
export {
  exportLog,
  type ExportRange,
  type ExportRecovery,
  type ExportReport,
} from "./tools/export_log.ts";
export { followLog } from "./tools/follow_log.ts";
export { openPublished, type Proof, prove } from "./tools/prove.ts";
export { publish, type PublishOptions, type PublishReport } from "./tools/publish.ts";
export { readRegularFile } from "./tools/published/published_folder.ts";
export type { PublishedLog } from "./tools/published/published_log.ts";
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
export { ToolError, type ToolErrorCode } from "./tools/tool_error.ts";
export type { Progress, ToolOptions } from "./tools/tool_options.ts";
export type { Export, ExportedLog, StoreAt, ToolStore } from "./tools/tool_store.ts";
export { UnsoundError } from "./tools/unsound_error.ts";
export { type Conversion, ConvertedError } from "./tools/verify/conversion.ts";
export type { AuditReport, Fault, FaultKind, Note, NoteKind } from "./tools/verify/findings.ts";
export { AuditCheckpoint, type AuditPhase } from "./tools/verify/log_audit.ts";
