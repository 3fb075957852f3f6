/**
 * The programs under test: by default the tasks of deno.json, and with `TEST_RUNTIME=node` (`deno task test:node`) those
 * of `.build/animal-store.mjs` on Node.
 */

import { existsSync } from "node:fs";
import denoJson from "../../deno.json" with { type: "json" };
import type { CommandName } from "../../scripts/commands.ts";
import { type Need, PROCESSES } from "./test_needing.ts";
import { ROOT } from "./with_project_copy.ts";

/** A version of Node is one of the package `node`, which also pins what it downloads. */
export const NODE_PACKAGE = "node@24.21.0";
export const NODE_FOLDER = `${ROOT}.cache/node`;
export const NODE = `${NODE_FOLDER}/node_modules/.bin/node`;
export const BUILT = `${ROOT}.build/animal-store.mjs`;

export const IS_ON_NODE = PROCESSES.isMet && Deno.env.get("TEST_RUNTIME") === "node";

/** A program that only one of the runtimes has. */
export const ON_DENO: Need = { name: "Deno as the runtime of the programs", isMet: !IS_ON_NODE };

/** The built program on Node, whatever the runtime of the other tests is. */
export const BUILT_PROGRAM: Need = {
  name: "Node and the built program, as deno task test:node makes",
  isMet: PROCESSES.isMet && existsSync(NODE) && existsSync(BUILT),
};

/** Arguments of Deno that run the service as `deno task start` does: the supervisor of several processes, or one. */
const [SUPERVISOR, SERVICE] = [...denoJson.tasks.start.command.matchAll(/echo (-P=\w+)/g)]
  .map(([, permissions]) => ["run", "-q", "--no-prompt", permissions, "scripts/main.ts", "start"]);

export type RuntimeName = "deno" | "node";

/** The runtime of the programs under test. */
export const RUNTIME: RuntimeName = IS_ON_NODE ? "node" : "deno";

/** The program and the arguments that run a command as its task does. */
export function commandOf(name: string, processes = "1", runtime = RUNTIME): string[] {
  return runtime === "node" ? [NODE, BUILT, name] : [Deno.execPath(), ...denoArgs(name, processes)];
}

/** The program and the arguments that run it without a command, or with one that it does not have. */
export const BARE_PROGRAM: string[] = IS_ON_NODE
  ? [NODE, BUILT]
  : [Deno.execPath(), "run", "-q", "--no-prompt", "-P=command", "scripts/main.ts"];

function denoArgs(name: string, processes: string): string[] {
  if (name === "start") return processes === "1" ? SERVICE : SUPERVISOR;
  return denoJson.tasks[name as CommandName].command.split(" ").slice(1);
}

/** The program and the arguments of a task, which Deno runs by its task runner. */
export function taskOf(name: string): string[] {
  return IS_ON_NODE ? [NODE, BUILT, name] : [Deno.execPath(), "task", "--quiet", name];
}

/** The same, with a program that a shell runs in its place. */
export function inShell(command: string[]): string[] {
  return ["sh", "-c", `exec ${command.join(" ")}`];
}

/** Messages name the commands as they are called; the tests expect the names of the tasks. */
export function asTask(text: string): string {
  return IS_ON_NODE
    ? text.replaceAll(/\bnode \S*animal-store\.mjs (?=[a-z])/g, "deno task ")
    : text;
}
