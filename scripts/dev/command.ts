import { type ChildProcess, spawn } from "node:child_process";
import { watch as watchPath } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { readDevConfig } from "../../src/settings/config.ts";
import { VARIABLES } from "../../src/settings/variables.ts";
import { parseCount } from "../cli/flag_values.ts";
import { UsageError } from "../cli/table_entry.ts";
import { EXIT, operatorCommand } from "../cli/run_command.ts";
import { sendSignal } from "../cli/send_signal.ts";

/** Deno runs the development server with the permissions of the service. */
const SERVER = ["run", "-q", "--no-prompt", "-P=service", "scripts/dev/dev_server.ts"];
const SOURCES = ["events", "scripts", "src"];

/** The files that the service reads besides its sources: its permissions, and its packages. */
const CONFIGURATION = ["deno.json", "deno.lock"];

/** Time in which the service ends after a signal, unless it hangs. */
const END_LIMIT_MS = 5_000;

/** Time without a further change after which a change is complete: editors write in steps. */
const CALM_MS = 100;

/** Why a round of the service is over. */
type Reason =
  | { kind: "stopped" }
  | { kind: "changed" }
  | { kind: "ended"; code: number };

let change = Promise.withResolvers<Reason>();
let hasTypeErrors = false;

/** As `dev_server.ts` gets them. */
export interface DevFlags {
  reset?: boolean;
  seed?: string;
}

export const command = operatorCommand<DevFlags>({
  async run({ reset = false, seed }) {
    const { store } = readDevConfig();
    if (reset && (store.kind !== "named_file" || !store.isDefault)) {
      const path = VARIABLES.KV_PATH.default;
      throw new UsageError(`--reset works only on ${path}: unset KV_PATH and DATABASE_URL`);
    }
    parseCount("--seed", seed, 1);
    watch(SOURCES, (name) => /\.(css|html|js|json|md|svg|tsx?)$/.test(name));
    // A file that an editor replaces is watched only through its folder.
    watch(["."], (name) => CONFIGURATION.includes(name), false);
    return await serveUntilStopped({ reset, seed });
  },
});

async function serveUntilStopped(flags: DevFlags): Promise<number> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<Reason>();
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => stop({ kind: "stopped" }));
  }
  for (let isFirst = true;; isFirst = false) {
    change = Promise.withResolvers();
    const round = new AbortController();
    const { signal } = round;
    const args = [...SERVER, JSON.stringify(isFirst ? flags : {})];
    const server = spawn(process.execPath, args, { stdio: "inherit" });
    checkTypes(signal);
    const ended = codeOf(server).then((code): Reason => ({ kind: "ended", code }));
    let reason = await Promise.race([stopped, change.promise, ended]);
    if (reason.kind === "ended" && mayRunAfterChange(reason.code, isFirst)) {
      console.error("The service has ended; it starts again after the next change");
      reason = await Promise.race([stopped, change.promise]);
    }
    // Ends the type check.
    round.abort();
    sendSignal(server, "SIGTERM");
    const timer = setTimeout(() => sendSignal(server, "SIGKILL"), END_LIMIT_MS);
    await ended;
    clearTimeout(timer);
    if (reason.kind === "stopped") return EXIT.done;
    if (reason.kind === "ended") return reason.code;
    console.error("The source has changed; the service starts again");
  }
}

/** Whether a service that has ended may run after the next change, instead of ending this command, too. */
function mayRunAfterChange(code: number, isFirst: boolean): boolean {
  if (code === 0) return false;
  // A service that a change has stopped can run after another one, whatever it says.
  return !isFirst || code !== EXIT.couldNotRun;
}

/** The exit code of a process when it has ended; 128 if a signal has ended it. */
function codeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 128)));
}

function watch(
  paths: string[],
  isWatched: (name: string) => boolean,
  recursive = true,
): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const onChange = (_: string, name: string | null) => {
    if (name === null || !isWatched(basename(name))) return;
    clearTimeout(timer);
    timer = setTimeout(() => change.resolve({ kind: "changed" }), CALM_MS);
  };
  for (const path of paths) watchPath(path, { recursive }, onChange);
}

/** Checks types next to the running service, which does not wait for the result. */
async function checkTypes(signal: AbortSignal): Promise<void> {
  const args = ["check", "--quiet", ...SOURCES];
  const check = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "pipe"] });
  signal.addEventListener("abort", () => sendSignal(check, "SIGTERM"));
  const [output, code] = await Promise.all([text(check.stderr), codeOf(check)]);
  if (signal.aborted) return;
  const success = code === 0;
  if (!success) {
    console.error(output.trim());
    console.error("The type check failed; it runs again after the next change");
  } else if (hasTypeErrors) console.error("The type check passes again");
  hasTypeErrors = !success;
}
