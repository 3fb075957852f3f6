/** The built program on Node, beside the programs of another runtime. */

import { commandOf, inShell, NODE_FOLDER, NODE_PACKAGE, type RuntimeName } from "./programs.ts";
import { ServiceProcess } from "./service_process.ts";
import { expectDone } from "./third_party_tools.ts";
import { ROOT } from "./with_project_copy.ts";

/** Installs Node from npm, and builds the program. */
export async function installNode(): Promise<void> {
  await Deno.mkdir(NODE_FOLDER, { recursive: true });
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--prefix", NODE_FOLDER];
  await expectDone("npm", ["install", ...flags, NODE_PACKAGE], { cwd: NODE_FOLDER });
  await expectDone(Deno.execPath(), ["task", "build"], { cwd: ROOT });
}

export function startOnNode(store: string): Promise<ServiceProcess> {
  return startOn("node", store);
}

/** Starts the service on one of the runtimes, whatever that of the other tests is. */
export function startOn(
  runtime: RuntimeName,
  store: string,
  env: Record<string, string> = {},
): Promise<ServiceProcess> {
  return ServiceProcess.start(store, env, inShell(commandOf("start", "1", runtime)));
}

if (import.meta.main) await installNode();
