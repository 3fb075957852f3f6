/** The code under test: the real code or a mutant of it. */
export type Code =
  & Pick<typeof import("../../src/service.ts"), "createService">
  & Pick<typeof import("../../src/life_cycle/shut_down.ts"), "shutDown">
  & Pick<typeof import("../../src/commands/issue_key.ts"), "issueKey">
  & Pick<typeof import("../../src/commands/revoke_key.ts"), "revokeKey">
  & Pick<typeof import("../../src/commands/rotate_key.ts"), "rotateKey">
  & Pick<typeof import("../../src/log/follow_log.ts"), "followLog">
  & Pick<typeof import("../../src/log/read_log.ts"), "readLog">
  & Pick<typeof import("../../scripts/replay/replay.ts"), "replay">
  & Pick<typeof import("../../scripts/restore/restore.ts"), "restore" | "verifyExport">
  & Pick<typeof import("../../scripts/audit/audit.ts"), "audit">
  & Pick<
    typeof import("../../src/store/resilience/resilient_store.ts"),
    "ResilientStore" | "RETRY_LIMIT_MS"
  >
  & Pick<
    typeof import("../../src/store/store_errors.ts"),
    "NotAppliedError" | "StoreAwayError" | "UnclearOutcomeError"
  >;

const MODULES = [
  "src/service.ts",
  "src/life_cycle/shut_down.ts",
  "src/commands/issue_key.ts",
  "src/commands/revoke_key.ts",
  "src/commands/rotate_key.ts",
  "src/log/follow_log.ts",
  "src/log/read_log.ts",
  "scripts/replay/replay.ts",
  "scripts/restore/restore.ts",
  "scripts/audit/audit.ts",
  "src/store/resilience/resilient_store.ts",
  "src/store/store_errors.ts",
];

/** Loads the service below a folder. The URL of the folder must end in a slash. */
export async function loadCode(root = new URL("../../", import.meta.url)): Promise<Code> {
  const modules = await Promise.all(MODULES.map((path) => import(new URL(path, root).href)));
  return Object.assign({}, ...modules);
}
