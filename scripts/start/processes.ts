import type { ChildProcessByStdio } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { sendSignal } from "../cli/send_signal.ts";
import { COULD_NOT_RUN } from "../../src/life_cycle/exit.ts";
import { stderrLogger } from "../../src/runtime/stderr_logger.ts";

/** The first and the longest delay before a process starts again, in milliseconds. */
const BACKOFF_FIRST_MS = 100;
const BACKOFF_LIMIT_MS = 5_000;

/** A supervisor or a process that is older has started, in milliseconds. */
const START_LIMIT_MS = 10_000;

/** Time in which the successor of a restarted process must listen, in milliseconds. */
const LISTEN_LIMIT_MS = 60_000;

/** A process ends within five seconds after a signal, in milliseconds. One that does not was stopped, or hangs. */
const END_LIMIT_MS = 6_000;

/**
 * The exit codes of a process that could not run: its own, and the one of Deno itself. A process that was killed has
 * another one.
 */
const ERROR_CODES = [1, 2];

/** A process whose standard output is piped. */
export type ChildProcess = ChildProcessByStdio<null, Readable, null>;

/** How a process ended: by its exit code, which is 128 and the number of the signal if one killed it. */
interface Status {
  code: number;
  signal: NodeJS.Signals | null;
}

interface Run {
  process: ChildProcess;
  /** Resolves to whether the process listens before it ends. */
  listening: Promise<boolean>;
}

/** Runs processes with the numbers from 1, each of which starts again if it ends, until they are stopped. */
export class Processes {
  #count: number;
  #start: (number: number) => ChildProcess;
  #runs = new Map<number, Run>();
  /** By the number of a process: the function to call with its next run. It is set while the process restarts. */
  #successors = new Map<number, (run: Run) => void>();
  #stopping = new AbortController();
  #begunAt = performance.now();
  #earlyErrors = 0;
  #restarts = Promise.resolve();

  /** `start` starts the process with a number. Its standard output is piped, and it writes to it once it listens. */
  constructor(count: number, start: (number: number) => ChildProcess) {
    this.#count = count;
    this.#start = start;
  }

  /** Resolves to the highest exit code after `stop`. Rejects if processes end with an error twice during the start. */
  async run(): Promise<number> {
    const codes = await Promise.all(this.#numbers().map((number) => this.#keepRunning(number)));
    return Math.max(...codes);
  }

  /** Restarts the processes one by one: each ends when the successor of the one before listens. */
  restart(): Promise<void> {
    this.#restarts = this.#restarts.then(() => this.#restartAll());
    return this.#restarts;
  }

  /** Sends a signal to all processes, and starts none again. */
  stop(signal: NodeJS.Signals): void {
    this.#stopping.abort();
    for (const { process } of this.#runs.values()) end(process, signal);
  }

  #numbers(): number[] {
    return Array.from({ length: this.#count }, (_, index) => index + 1);
  }

  /** Resolves to the exit code of the process that `stop` has ended; 0 if none was running. */
  async #keepRunning(number: number): Promise<number> {
    const { signal: stopping } = this.#stopping;
    let delayMs = BACKOFF_FIRST_MS;
    while (!stopping.aborted) {
      const startedAt = performance.now();
      const { code, signal } = await this.#runOnce(number);
      if (stopping.aborted) return code;
      // A restart waits for the next process.
      if (this.#successors.has(number)) continue;
      const level = code === 0 ? "info" : "error";
      stderrLogger(level, "process_ended", { process: number, code, signal });
      this.#countEarlyError(code);
      if (performance.now() - startedAt > START_LIMIT_MS) delayMs = BACKOFF_FIRST_MS;
      await sleep(delayMs, undefined, { signal: stopping }).catch(() => {});
      delayMs = Math.min(2 * delayMs, BACKOFF_LIMIT_MS);
    }
    return 0;
  }

  /** Runs one process until it ends. */
  async #runOnce(number: number): Promise<Status> {
    const process = this.#start(number);
    const run = { process, listening: writesOutput(process) };
    this.#runs.set(number, run);
    this.#successors.get(number)?.(run);
    this.#successors.delete(number);
    const status = await statusOf(process);
    this.#runs.delete(number);
    return status;
  }

  /** Two errors at the start mean that a setting or the store is wrong. A process that was killed says nothing. */
  #countEarlyError(code: number): void {
    const isEarly = performance.now() - this.#begunAt < START_LIMIT_MS;
    if (isEarly && ERROR_CODES.includes(code)) this.#earlyErrors++;
    if (this.#earlyErrors > 1) {
      throw new Error("Processes ended with an error twice during the start");
    }
  }

  async #restartAll(): Promise<void> {
    for (const number of this.#numbers()) {
      stderrLogger("info", "process_restarting", { process: number });
      if (await this.#restartOne(number)) continue;
      const remedy = "Correct what its last lines say, and send SIGHUP again";
      return stderrLogger("error", "restart_failed", { process: number, remedy });
    }
    stderrLogger("info", "restarted", { processes: this.#count });
  }

  /** Resolves to whether the successor of a process listens, or the process needs none. */
  async #restartOne(number: number): Promise<boolean> {
    const run = this.#runs.get(number);
    // It has ended by itself, and starts again anyway.
    if (run === undefined) return true;
    const { promise: succeeded, resolve } = Promise.withResolvers<Run>();
    this.#successors.set(number, resolve);
    // The process first lets its clients connect to the others.
    end(run.process, "SIGHUP");
    const successor = await succeeded;
    return await Promise.race([successor.listening, sleep(LISTEN_LIMIT_MS, false)]);
  }
}

/** Ends a process by a signal. If it has not ended after a limit, kills it: a stopped process ignores other signals. */
function end(process: ChildProcess, signal: NodeJS.Signals): void {
  sendSignal(process, signal);
  const timer = setTimeout(() => sendSignal(process, "SIGKILL"), END_LIMIT_MS);
  process.once("exit", () => clearTimeout(timer));
}

/** A process that could not be started counts as one that could not run. */
async function statusOf(process: ChildProcess): Promise<Status> {
  const failed = { code: COULD_NOT_RUN, signal: null };
  const { promise: status, resolve } = Promise.withResolvers<Status>();
  process.once("error", () => resolve(failed));
  process.once("exit", (code, signal) => resolve({ code: code ?? codeOf(signal), signal }));
  return await status;
}

function codeOf(signal: NodeJS.Signals | null): number {
  return 128 + (signal === null ? 0 : constants.signals[signal]);
}

/** Resolves to whether a process writes to its standard output before it ends. */
async function writesOutput({ stdout }: ChildProcess): Promise<boolean> {
  const { promise: writes, resolve } = Promise.withResolvers<boolean>();
  stdout.once("data", () => resolve(true));
  stdout.once("close", () => resolve(false));
  return await writes;
}
