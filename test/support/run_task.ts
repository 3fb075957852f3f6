import { assertEquals, assertMatch } from "@std/assert";
import { asTask, commandOf, taskOf } from "./programs.ts";
import { storeVariables } from "./real_store.ts";
import { ROOT } from "./with_project_copy.ts";

/** The result of a task of deno.json. The task runs as an operator runs it, with its own permissions. */
export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  /** Path of the store, or URL of a server. */
  kvPath: string;
  /** The project's folder, if it is a copy. */
  project?: string;
  env?: Record<string, string>;
  stdin?: Uint8Array;
  /** Whether it has a process group, without Deno's task runner, which a late signal to all would end instead. */
  detached?: boolean;
}

/** Runs `deno task ARGS` until it exits. */
export async function runTask(args: string[], options: RunOptions): Promise<Outcome> {
  const { stdin } = options;
  const child = spawnTask(args, options);
  // A task that rejects its input early closes it. The test must not fail then.
  await ReadableStream.from(stdin ? [stdin] : []).pipeTo(child.stdin).catch(() => {});
  return await outcomeOf(child);
}

/** Runs a task that must succeed, and resolves to its standard output. */
export async function expectTask(args: string[], options: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await runTask(args, options);
  assertEquals(code, 0, `${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Runs a task that must exit with that code, print nothing to standard output, and say why on standard error. */
export async function expectTaskFails(
  code: number,
  reason: RegExp,
  args: string[],
  options: RunOptions,
): Promise<void> {
  const { stderr, ...outcome } = await runTask(args, options);
  assertEquals(outcome, { code, stdout: "" }, `${args.join(" ")}: ${stderr}`);
  assertMatch(stderr, reason);
}

/** The outcome of a process whose output nobody else reads, when it has ended. */
export async function outcomeOf(process: Pick<Deno.ChildProcess, "output">): Promise<Outcome> {
  const { code, stdout, stderr } = await process.output();
  const decoder = new TextDecoder();
  const stdoutText = asTask(decoder.decode(stdout));
  return { code, stdout: stdoutText, stderr: asTask(decoder.decode(stderr)) };
}

export function spawnTask(
  [name, ...args]: string[],
  { kvPath, project = ROOT, env = {}, detached = false }: RunOptions,
): Deno.ChildProcess {
  const [program, ...task] = detached ? commandOf(name, env.PROCESSES) : taskOf(name);
  return new Deno.Command(program, {
    args: [...task, ...args],
    cwd: project,
    env: { NO_COLOR: "1", ...storeVariables(kvPath), ...env },
    detached,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}
