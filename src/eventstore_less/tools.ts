/** Tools for operators: they audit, replay, back up, restore and publish the log of an application. */

export { lockFile } from "./runtime/file_lock.ts";
export { realPath } from "./runtime/real_path.ts";
export { Backup, isDamage } from "./tools/backup.ts";
export { isErased } from "./log/erased.ts";
export { formatCount, formatCounted, formatMinute, formatSecond, shorten } from "./tools/format.ts";
export { publishLog, type ReadLines } from "./tools/publish_log.ts";
export {
  readPublished,
  readRegularFile,
  WritableFolder,
} from "./tools/published/published_folder.ts";
export { CHECKPOINT_PATH, PublishedLog } from "./tools/published/published_log.ts";
export { encodeVerifierKey, isKeyName } from "./tools/published/signed_note.ts";
export { replaceableAt, replaceFile } from "./tools/replace_file.ts";
export { RefusedError } from "./tools/refused_error.ts";
export { GRACE_MS, replay, type ReplayDeps, type ReplayPhase } from "./tools/replay.ts";
export { findEndOfTime, firstLines } from "./tools/restore/first_lines.ts";
export { redacted } from "./tools/restore/redact.ts";
export {
  type Export,
  readExport,
  restore,
  type RestoreDeps,
  verifyExport,
} from "./tools/restore/restore.ts";
export { audit, type AuditDeps, auditLines } from "./tools/verify/audit.ts";
export { type AuditReport, describe, Findings } from "./tools/verify/findings.ts";
export { AuditCheckpoint, type AuditOptions } from "./tools/verify/log_audit.ts";
export { LogVerifier } from "./tools/verify/log_verifier.ts";
export { continuingLines, readableRecords } from "./tools/verify/readable_log.ts";
