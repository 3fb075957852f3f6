/** Runs an operator's command: reports an error on one line, and sets the exit code. */

import { EventStore, type StoreOf } from "eventstore-less";
import { acceptLog, GUARD_KEYS } from "eventstore-less/parts";
import { reasonOf, storeName, systemRuntime } from "eventstore-less/startup";
import { isMissingFile, type OpenOptions, openStore, type Store } from "eventstore-less/store";
import { fileRemedy, RefusedError, type ToolStore } from "eventstore-less/tools";
import { APPLICATION } from "../../src/application.ts";
import process from "node:process";
import { writeStdout } from "this-runtime/stdio.ts";
import { COULD_NOT_RUN } from "../../src/life_cycle/exit.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { redactKeys } from "../../src/runtime/redact_keys.ts";
import { adviceOnError } from "./advice_on_error.ts";
import type { Command, Parsed, RunCommand } from "./table_entry.ts";
import { configuredStore } from "./configured_store.ts";
import { endProgress } from "./progress.ts";

/** Exit codes of commands. Deno itself exits with 1 if it cannot load a program. If a signal interrupts a command, the code is 128 and the signal's number. */
export const EXIT = { done: 0, refused: 1, couldNotRun: COULD_NOT_RUN, noResult: 3 } as const;

/** The command could run, but refuses: exit code 1. */
export class CommandRefusedError extends Error {}

export interface CommandActions<Flags> {
  /** Resolves to the exit code, by default 0. */
  run(flags: Flags, positionals: string[], usage: Command["usage"]): Promise<number | void>;
  /** The errors by which `run` refuses, besides `CommandRefusedError` and `RefusedError`. */
  refusals?: (abstract new (...args: never[]) => Error)[];
  /** The advice on an error, which follows its message. By default, {@linkcode adviceOnError}. */
  adviceOn?(error: unknown): string;
  /** The name of the file that the command writes, for an error that names none. */
  fileName?(): string;
  /** Says, on SIGINT (Ctrl-C) and SIGTERM, what the command leaves and what to run next. */
  interrupt?(): string;
  /** Whether such a signal is the only end of the command, so that it exits with 0. */
  endsBySignal?(): boolean;
  /** Aborted on these signals, for a command that then ends by itself. The others exit at once. */
  stop?: AbortController;
  /** Maximum time in which such a command ends by itself. */
  stopLimitMs?: number;
}

/** The function of a command, for the table. */
export function operatorCommand<Flags>(actions: CommandActions<Flags>): RunCommand<Flags> {
  return (parse) => runCommand(parse, actions);
}

async function runCommand<Flags>(
  parse: () => Parsed<Flags>,
  actions: CommandActions<Flags>,
): Promise<never> {
  const { run, refusals = [], adviceOn = adviceOnError, interrupt, stop } = actions;
  // A command does not fail if the reader of its standard error has ended.
  process.stderr.on("error", () => {});
  process.on("uncaughtException", exitAfterDefect);
  const endInterrupted = (code: number) => {
    say(interrupt!());
    process.exit(actions.endsBySignal?.() ? EXIT.done : code);
  };
  try {
    const { flags, positionals, usage } = parse();
    if (interrupt !== undefined) onInterrupt(endInterrupted, actions);
    const code = await run(flags, positionals, usage);
    if (stop?.signal.aborted) endInterrupted(stop.signal.reason);
    process.exit(code ?? EXIT.done);
  } catch (error) {
    const isStopped = stop !== undefined && stop.signal.aborted && error === stop.signal.reason;
    if (isStopped) endInterrupted(stop.signal.reason);
    const remedy = fileRemedy(error, actions.fileName?.());
    const shownRemedy = remedy === undefined ? "" : `; ${remedy}`;
    printError(`${reasonOf(error)}${adviceOn(error)}${shownRemedy}`);
    const isRefused = [CommandRefusedError, RefusedError, ...refusals].some((it) =>
      error instanceof it
    );
    process.exit(isRefused ? EXIT.refused : EXIT.couldNotRun);
  }
}

/** Also called for rejections that nobody handles. */
function exitAfterDefect(thrown: unknown): never {
  endProgress();
  const place = thrown instanceof Error ? /^ +(at .+)$/m.exec(thrown.stack ?? "") : null;
  const shownPlace = place === null ? "" : ` (${place[1]})`;
  printError(`A defect ended the command: ${reasonOf(thrown)}${shownPlace}`);
  process.exit(EXIT.couldNotRun);
}

/** Maximum time in which a command ends by itself after a signal, also in a call or a write that hangs. */
const STOP_LIMIT_MS = 1_000;

function onInterrupt(
  end: (code: number) => void,
  { stop, stopLimitMs = STOP_LIMIT_MS }: Pick<CommandActions<unknown>, "stop" | "stopLimitMs">,
): void {
  for (const [signal, code] of [["SIGINT", 128 + 2], ["SIGTERM", 128 + 15]] as const) {
    process.on(signal, () => {
      if (stop === undefined) return end(code);
      stop.abort(code);
      setTimeout(end, stopLimitMs, code);
    });
  }
}

/** Opens the configured store during `use`, with an instance of the engine on it. A missing file is created only with `create`. */
export async function withInstance<T>(
  use: (instance: StoreOf<typeof APPLICATION>) => Promise<T>,
  { create = false, accept = (store: Store) => acceptLog(APPLICATION, store) }: Partial<
    Pick<OpenOptions, "create" | "accept">
  > = {},
): Promise<T> {
  const location = configuredStore();
  const isNew = create && await isMissingFile(location);
  return await withOpened({ create, accept }, async (store) => {
    // Otherwise nobody would notice that KV_PATH is mistyped.
    if (isNew) say(`Made a new store: ${storeName(location)} (KV_PATH)`);
    // An operator waits longer than a client would.
    const instance = new EventStore(APPLICATION, store, { appendLimitMs: 10_000 });
    return await use(instance).finally(() => instance.appender.drain());
  });
}

/** Opens the configured store during `use`, for a tool. */
export function withStore<T>(use: (store: ToolStore) => Promise<T>): Promise<T> {
  return withOpened({}, (store) => {
    return use({ application: APPLICATION, store, runtime: systemRuntime });
  });
}

async function withOpened<T>(
  options: Partial<OpenOptions>,
  use: (store: Store) => Promise<T>,
): Promise<T> {
  const store = await openStore(configuredStore(), {
    create: false,
    program: APPLICATION.dashedName,
    accept: (store) => acceptLog(APPLICATION, store),
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
    onSchemaCreated: (database) => say(`Created the tables in the ${database}`),
    ...options,
  });
  try {
    return await use(store);
  } finally {
    store.close();
  }
}

/** The message may repeat arguments, paths and stored texts. An argument may be an API key by mistake. */
export function printError(message: string): void {
  say(`error: ${escapeInvisible(redactKeys(message))}`);
}

/** Prints a line for people on standard error. */
export function say(line: string): void {
  endProgress();
  console.error(line);
}

/** Prints a line of data on standard output. A closed pipe is not a failure of the command. */
export async function print(line: string): Promise<void> {
  endProgress();
  await write(new TextEncoder().encode(`${line}\n`));
}

/** Writes all bytes to standard output. Resolves to `false` if it is a pipe that its reader has closed. */
export async function write(bytes: Uint8Array): Promise<boolean> {
  try {
    for (let offset = 0; offset < bytes.length;) {
      offset += await writeStdout(bytes.subarray(offset));
    }
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "EPIPE") return false;
    throw error;
  }
}
