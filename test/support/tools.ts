/** The tools of the engine, for the application of the service. */

import { APPLICATION } from "../../src/application.ts";
import { Backup } from "../../src/eventstore_less/tools/backup.ts";
import {
  publishLog as publishLogOf,
  type PublishOptions,
} from "../../src/eventstore_less/tools/publish_log.ts";
import {
  replay as replayOf,
  type ReplayDeps,
  type ReplayOptions,
} from "../../src/eventstore_less/tools/replay.ts";
import { redacted as redactedOf } from "../../src/eventstore_less/tools/restore/redact.ts";
import {
  type Export,
  readExport as readExportOf,
  restore as restoreOf,
  type RestoreDeps,
  verifyExport as verifyExportOf,
} from "../../src/eventstore_less/tools/restore/restore.ts";
import {
  audit as auditOf,
  type AuditDeps,
  auditLines as auditLinesOf,
  auditLog as auditLogOf,
} from "../../src/eventstore_less/tools/verify/audit.ts";
import type { AuditOptions } from "../../src/eventstore_less/tools/verify/log_audit.ts";
import { LogVerifier as LogVerifierOf } from "../../src/eventstore_less/tools/verify/log_verifier.ts";
import { continuingLines as continuingLinesOf } from "../../src/eventstore_less/tools/verify/readable_log.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";

type Rest<Args extends unknown[]> = Args extends [unknown, ...infer Others] ? Others : never;
type Without<Deps> = Omit<Deps, "application">;

const application = APPLICATION;

export const audit = (deps: Without<AuditDeps>, options?: AuditOptions) =>
  auditOf({ ...deps, application }, options);
export const auditLog = (store: Store, options?: AuditOptions) =>
  auditLogOf({ store, application }, options);
export const auditLines = (...args: Rest<Parameters<typeof auditLinesOf>>) =>
  auditLinesOf(application, ...args);
export const replay = (deps: Without<ReplayDeps>, options?: ReplayOptions) =>
  replayOf({ ...deps, application }, options);
export const restore = (
  deps: Without<RestoreDeps>,
  ...args: Rest<Parameters<typeof restoreOf>>
) => restoreOf({ ...deps, application }, ...args);
export const verifyExport = (...args: Rest<Parameters<typeof verifyExportOf>>) =>
  verifyExportOf(application, ...args);
export const readExport = (...args: Rest<Parameters<typeof readExportOf>>) =>
  readExportOf(application, ...args);
export const redacted = (...args: Rest<Parameters<typeof redactedOf>>) =>
  redactedOf(application, ...args);
export const continuingLines = (...args: Rest<Parameters<typeof continuingLinesOf>>) =>
  continuingLinesOf(application, ...args);
export const publishLog = (options: Without<PublishOptions>) =>
  publishLogOf({ ...options, application });
export const openBackup = (...args: Rest<Parameters<typeof Backup.open>>) =>
  Backup.open(application, ...args);
export class LogVerifier extends LogVerifierOf {
  constructor() {
    super(application);
  }
}
export type { Export };
