/** The code under test: the real one, or a copy of it that was changed on purpose. */

export interface Code {
  createService: typeof import("../../src/service.ts").createService;
  issueKey: typeof import("../../src/commands/issue_key.ts").issueKey;
  revokeKey: typeof import("../../src/commands/revoke_key.ts").revokeKey;
  rotateKey: typeof import("../../src/commands/rotate_key.ts").rotateKey;
  readLog: typeof import("../../src/log/read_log.ts").readLog;
}

/** Loads the service below a folder, given with its slash at the end. */
export async function loadCode(root = new URL("../../", import.meta.url)): Promise<Code> {
  const load = (path: string) => import(new URL(path, root).href);
  const { createService } = await load("src/service.ts");
  const { issueKey } = await load("src/commands/issue_key.ts");
  const { revokeKey } = await load("src/commands/revoke_key.ts");
  const { rotateKey } = await load("src/commands/rotate_key.ts");
  const { readLog } = await load("src/log/read_log.ts");
  return { createService, issueKey, revokeKey, rotateKey, readLog };
}
