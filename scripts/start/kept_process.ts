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

/** After a process has run for so long, in milliseconds, the next delay is the first one again. */
const CALM_MS = 10_000;

/** Time in which the successor of a restarted process must be ready, in milliseconds. */
const READY_LIMIT_MS = 60_000;

/** A process ends within five seconds after a signal, in milliseconds. One that does not was stopped, or hangs. */
const END_LIMIT_MS = 6_000;

/** A process whose standard output is piped. */
export type ChildProcess = ChildProcessByStdio<null, Readable, null>;

/** How a process ended: by its exit code, which is 128 and the number of the signal if one killed it. */
interface Status {
  code: number;
  signal: NodeJS.Signals | null;
}

/** One of several processes. It starts again whenever it ends, until it is stopped. */
export class KeptProcess {
  readonly number: number;
  #start: (number: number) => ChildProcess;
  #child: ChildProcess | undefined;
  #stopping = new AbortController();
  #firstReady = Promise.withResolvers<void>();
  #wasReady = false;
  /** Set during a restart: the function to call with whether the successor is ready before it ends. */
  #onSuccessor: ((isReady: Promise<boolean>) => void) | undefined;

  /** `start` starts the process with a number. Its standard output is piped, and it writes to it once it is ready. */
  constructor(number: number, start: (number: number) => ChildProcess) {
    this.number = number;
    this.#start = start;
  }

  /** Resolves when the process is ready for the first time. */
  get firstReady(): Promise<void> {
    return this.#firstReady.promise;
  }

  /**
   * Resolves to the exit code of the process after `stop`; 0 if it was not running. A process that ends by itself before
   * it was ever ready does not start again: a setting or the store is wrong, and its last line says so.
   */
  async run(): Promise<number> {
    const { signal: stopping } = this.#stopping;
    let delayMs = BACKOFF_FIRST_MS;
    while (!stopping.aborted) {
      const startedAt = performance.now();
      const { code, signal } = await this.#runOnce();
      if (stopping.aborted) return code;
      // A restart waits for the successor.
      if (this.#onSuccessor !== undefined) continue;
      if (!this.#wasReady && signal === null) return code;
      const level = code === 0 ? "info" : "error";
      stderrLogger(level, "process_ended", { process: this.number, code, signal });
      if (performance.now() - startedAt > CALM_MS) delayMs = BACKOFF_FIRST_MS;
      await sleep(delayMs, undefined, { signal: stopping }).catch(() => {});
      delayMs = Math.min(2 * delayMs, BACKOFF_LIMIT_MS);
    }
    return 0;
  }

  /** Ends the process, and resolves to whether its successor is ready. One that has just ended starts again anyway. */
  async restart(): Promise<boolean> {
    if (this.#child === undefined) return true;
    const isReady = new Promise<boolean>((resolve) => {
      this.#onSuccessor = resolve;
    });
    // The process first lets its clients connect to the others.
    end(this.#child, "SIGHUP");
    return await Promise.race([isReady, sleep(READY_LIMIT_MS, false)]);
  }

  /** Sends a signal to the process, and does not start it again. */
  stop(signal: NodeJS.Signals): void {
    this.#stopping.abort();
    if (this.#child !== undefined) end(this.#child, signal);
  }

  /** Runs the process until it ends. */
  async #runOnce(): Promise<Status> {
    const child = this.#start(this.number);
    this.#child = child;
    const isReady = writesOutput(child);
    void isReady.then((it) => {
      if (it) this.#noteReady();
    });
    this.#onSuccessor?.(isReady);
    this.#onSuccessor = undefined;
    const status = await statusOf(child);
    this.#child = undefined;
    return status;
  }

  #noteReady(): void {
    this.#wasReady = true;
    this.#firstReady.resolve();
  }
}

/** Ends a process by a signal. If it has not ended after a limit, kills it: a stopped process ignores other signals. */
function end(child: ChildProcess, signal: NodeJS.Signals): void {
  sendSignal(child, signal);
  const timer = setTimeout(() => sendSignal(child, "SIGKILL"), END_LIMIT_MS);
  child.once("exit", () => clearTimeout(timer));
}

/** A process that could not be started counts as one that could not run. */
async function statusOf(child: ChildProcess): Promise<Status> {
  const failed = { code: COULD_NOT_RUN, signal: null };
  const { promise: status, resolve } = Promise.withResolvers<Status>();
  child.once("error", () => resolve(failed));
  child.once("exit", (code, signal) => resolve({ code: code ?? codeOf(signal), signal }));
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
