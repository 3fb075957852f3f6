/** The built program on Node, beside the programs of another runtime. */

import { BUILT, NODE, NODE_FOLDER, NODE_PACKAGE } from "./programs.ts";
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

/** Starts the service on Node. */
export function startOnNode(
  store: string,
  env: Record<string, string> = {},
): Promise<ServiceProcess> {
  return ServiceProcess.start(store, env, ["sh", "-c", `exec ${NODE} ${BUILT} start`]);
}

/** The runtimes of two services: that of the tests (`own`), or Node. */
export type Runtimes = readonly ["own" | "node", "own" | "node"];

export function startOn(
  runtime: Runtimes[number],
  store: string,
  env?: Record<string, string>,
): Promise<ServiceProcess> {
  return runtime === "node" ? startOnNode(store, env) : ServiceProcess.start(store, env);
}

if (import.meta.main) await installNode();
