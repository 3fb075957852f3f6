/** An entry in the table of commands, and the parsing of its arguments. */

import { parseArgs } from "node:util";
import type { VariableName } from "../../src/settings/variables.ts";

export interface Command {
  /** Describes the command, as `deno task` lists it. */
  title: string;
  /** Follows the title in `--help`. */
  details?: string;
  /** The ways to call it: its name, and what may follow. */
  usage: readonly string[];
  /** Lines with other programs, or with several commands. */
  examples?: () => readonly string[];
  /** Its flags, each with a word for the value that it takes. If dots follow, it can be used several times. */
  flags?: FlagTexts;
  /** Words for the other arguments. */
  positionals?: readonly string[];
  /** By default those of the store. */
  variables?: readonly VariableName[];
  /** The defaults of variables that differ from those in their table. */
  defaults?: Partial<Record<VariableName, string>>;
  /** The meaning of exit code 1, if the command can refuse. */
  refusal?: string;
  /** The meaning of exit code 3, if the command can end without a result. */
  noResult?: string;
}

type FlagTexts = Readonly<Record<string, string>>;

/** A command of the table. */
export interface TableCommand extends Command {
  /** The set of `permissions` in `deno.json`. For several processes, that of `service` gives way to `supervisor`. */
  permissions: "command" | "dev" | "service";
  /** Whether the program on Node does not have it. */
  needsDeno?: boolean;
  /** Loads the module that exports the command. */
  load(): Promise<{ command: RunCommand }>;
}

/** Runs a command, and ends the process. `parse` throws {@linkcode UsageError}. */
// deno-lint-ignore no-explicit-any -- the table checks the flags of each function; a caller has none to give
export type RunCommand<Flags = any> = (parse: () => Parsed<Flags>) => Promise<never>;

export interface Parsed<Flags> {
  flags: Flags;
  positionals: string[];
  usage: Command["usage"];
}

/** A command without flags. */
export type NoFlags = Record<never, never>;

/** The arguments are wrong; the message says what to write instead. */
export class UsageError extends Error {
  constructor(fault: string) {
    super(`${fault}; see --help`);
  }
}

/** An entry of the table. Its flags must be those that its function takes. */
export function entry<const Texts extends FlagTexts = NoFlags, Taken = NoFlags>(
  command:
    & Omit<TableCommand, "flags" | "load">
    & { flags?: Texts; load(): Promise<{ command: RunCommand<Taken> }> }
    & Agreement<FlagValues<Texts>, Taken>,
): TableCommand & { flags?: Texts } {
  return command;
}

type Agreement<Given, Taken> = [Given, keyof Given, keyof Taken] extends
  [Taken, keyof Taken, keyof Given] ? unknown
  : { flags: "those that the function of load() takes" };

/** The values of flags, by name. */
export type FlagValues<Texts> = {
  -readonly [Flag in keyof Texts as NameOf<Flag>]?: ValueOf<Flag>;
};
type NameOf<Flag> = Flag extends `--${infer Name} ${string}` ? Name
  : Flag extends `--${infer Name}` ? Name
  : never;
type ValueOf<Flag> = Flag extends `${string} ${string}...` ? string[]
  : Flag extends `${string} ${string}` ? string
  : boolean;

/** Parses the arguments of a command. Throws {@linkcode UsageError}. */
export function parseArguments<const Texts extends FlagTexts>(
  command: Command & { flags?: Texts },
  args: string[],
): Parsed<FlagValues<Texts>> {
  const { usage, positionals: words = [] } = command;
  const { values, positionals } = parse(command, args);
  const unexpected = positionals[words.length];
  if (unexpected !== undefined) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(unexpected)}`);
  }
  return { flags: values as FlagValues<Texts>, positionals, usage };
}

function parse({ flags = {} }: Command, args: string[]) {
  const options = Object.keys(flags).map((flag) => {
    const [name, value] = flag.slice("--".length).split(" ");
    const type: "string" | "boolean" = value === undefined ? "boolean" : "string";
    const multiple = flag.endsWith("...");
    return [name, { type, multiple }] as const;
  });
  try {
    return parseArgs({ args, options: Object.fromEntries(options), allowPositionals: true });
  } catch (error) {
    // The first sentence names the fault; the others explain how an argument can begin with a dash.
    const [fault] = (error as Error).message.split(/\.\s/);
    const need = "needs a value that does not begin with a dash";
    throw new UsageError(fault.replace("argument is ambiguous", need));
  }
}
