/**
 * The parts of deno.json that follow from the table of commands: a task for each, and the variables that each set of
 * permissions allows. As a program, this module writes them into the file.
 */

import { COMMANDS } from "../scripts/commands.ts";
import type { TableCommand } from "../scripts/cli/table_entry.ts";
import { INTERNAL_VARIABLES, STORE_VARIABLES } from "../src/settings/variables.ts";

export const DENO_JSON = new URL("../deno.json", import.meta.url);

/** Deno reads these itself, without a permission. */
const VARIABLES_OF_DENO: readonly string[] = ["NO_COLOR", "TMPDIR"];

const ALL = Object.entries<TableCommand>(COMMANDS);

/** Returns a text of the file with these parts as they should be. */
export function withCommands(text: string): string {
  const config = JSON.parse(text);
  for (const set of ["service", "command"] as const) {
    config.permissions[set].env.allow = variablesOf(set);
  }
  const tasks = Object.entries(config.tasks).filter(([name]) => !isCommand(name));
  config.tasks = Object.fromEntries([...ALL.map(taskOf), ...tasks]);
  return `${JSON.stringify(config, null, 2)}\n`;
}

function isCommand(name: string): boolean {
  return Object.hasOwn(COMMANDS, name);
}

/**
 * Without -q, Deno warns in each run that sets of permissions are experimental. Without --no-prompt, it asks on a terminal
 * for what a program may not have, such as the variables that the client of PostgreSQL looks for.
 */
function taskOf([name, { title, permissions }]: [string, TableCommand]) {
  const command = `deno run -q --no-prompt ${flagFor(permissions)} scripts/main.ts ${name}`;
  return [name, { description: title, command }] as const;
}

/** Deno fixes the permissions before the program runs, so the shell decides whether a supervisor starts. */
function flagFor(permissions: TableCommand["permissions"]): string {
  if (permissions !== "service") return `-P=${permissions}`;
  const several = `test -n "$PROCESSES" && test "$PROCESSES" != 1`;
  return `$(${several} && echo -P=supervisor || echo -P=service)`;
}

function variablesOf(set: TableCommand["permissions"]): string[] {
  const named = ALL.filter(([, { permissions }]) => permissions === set)
    .flatMap(([, { variables = STORE_VARIABLES }]) => variables as readonly string[]);
  const internal = set === "service" ? Object.keys(INTERNAL_VARIABLES) : ["CALLED_AS"];
  return [...new Set([...named, ...internal])].filter((it) => !VARIABLES_OF_DENO.includes(it));
}

if (import.meta.main) {
  await Deno.writeTextFile(DENO_JSON, withCommands(await Deno.readTextFile(DENO_JSON)));
}
