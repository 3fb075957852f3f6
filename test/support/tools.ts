/** The tools of the engine, for the application of the service. */

import { APPLICATION } from "../../src/application.ts";
import { BackupFile } from "../../src/eventstore_less/tools/backup_file.ts";
import {
  type PublishDeps,
  publishLog as publishLogOf,
} from "../../src/eventstore_less/tools/publish_log.ts";
import { rebuild, type RebuildOptions } from "../../src/eventstore_less/tools/rebuild.ts";
import { redacted as redactedOf } from "../../src/eventstore_less/tools/restore/redact.ts";
import {
  readExport as readExportOf,
  verifyExport as verifyExportOf,
} from "../../src/eventstore_less/tools/restore/verify_export.ts";
import { writeExport } from "../../src/eventstore_less/tools/restore/write_export.ts";
import type { Export, ToolStore } from "../../src/eventstore_less/tools/tool_store.ts";
import {
  type AuditDeps,
  auditLines as auditLinesOf,
  auditLog as auditLogOf,
  auditStore,
} from "../../src/eventstore_less/tools/verify/audit.ts";
import type { LogAuditOptions } from "../../src/eventstore_less/tools/verify/log_audit.ts";
import { LogVerifier as LogVerifierOf } from "../../src/eventstore_less/tools/verify/log_verifier.ts";
import {
  continuingLines as continuingLinesOf,
  type DamagedLog,
} from "../../src/eventstore_less/tools/verify/readable_log.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";

type Rest<Args extends unknown[]> = Args extends [unknown, ...infer Others] ? Others : never;
type Without<Deps> = Omit<Deps, "application">;

const application = APPLICATION;

export const audit = (deps: Without<AuditDeps>, options?: LogAuditOptions) =>
  auditStore({ ...deps, application }, options);
export const auditLog = (store: Store, options?: LogAuditOptions) =>
  auditLogOf({ store, application }, options);
export const auditLines = (...args: Rest<Parameters<typeof auditLinesOf>>) =>
  auditLinesOf(application, ...args);
export const replay = (deps: Without<ToolStore>, options?: RebuildOptions) =>
  rebuild({ ...deps, application }, options);
export const restore = (
  deps: Without<ToolStore>,
  ...args: Rest<Parameters<typeof writeExport>>
) => writeExport({ ...deps, application }, ...args);
export const verifyExport = (...args: Rest<Parameters<typeof verifyExportOf>>) =>
  verifyExportOf(application, ...args);
export const readExport = (...args: Rest<Parameters<typeof readExportOf>>) =>
  readExportOf(application, ...args);
export const redacted = (...args: Rest<Parameters<typeof redactedOf>>) =>
  redactedOf(application, ...args);
export const continuingLines = (
  log: Without<DamagedLog>,
  ...args: Rest<Parameters<typeof continuingLinesOf>>
) => continuingLinesOf({ ...log, application }, ...args);
export const publishLog = (deps: Without<PublishDeps>) => publishLogOf({ ...deps, application });
export const openBackup = (...args: Rest<Parameters<typeof BackupFile.open>>) =>
  BackupFile.open(application, ...args);
export class LogVerifier extends LogVerifierOf {
  constructor() {
    super(application);
  }
}
export type { Export };
