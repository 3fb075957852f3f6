/** The texts of `--help` and `--version`. */

import { HAS_DENO_KV, STORE_FORMAT, UPGRADED_FORMAT } from "eventstore-less/startup";
import { buildCommit } from "this-runtime/build_commit.ts";
import { commandName } from "../../src/runtime/words.ts";
import { STORE_VARIABLES, type Variable, VARIABLES } from "../../src/settings/variables.ts";
import { NAME, VERSION } from "../../src/settings/version.ts";
import type { Command } from "./table_entry.ts";

const WIDTH = 100;

/** The line that `--version` prints. The `pets-upgrade` of versions up to 7.0.0 reads the end of it. */
export function versionLine(): string {
  const commit = buildCommit();
  const build = commit === undefined ? VERSION : `${VERSION}, commit ${commit}`;
  return `${NAME} ${build} (stores of format ${STORE_FORMAT}, upgrades ${UPGRADED_FORMAT})`;
}

/** Lists the commands of operators with their titles. `dev` is for developers. */
export function commandList(table: Record<string, Command>): string {
  const commands = Object.entries(table).filter(([name]) => name !== "dev");
  const rows = commands.map(([name, { title }]) => [name, title]);
  return `${NAME} ${VERSION}

  ${commandName("COMMAND [ARGUMENTS]")}

${columns(rows)}

Each command has --help.`;
}

export function helpOf(command: Command): string {
  const { title, details = "", usage, flags = {}, variables = STORE_VARIABLES } = command;
  const { examples = () => [], refusal, noResult } = command;
  const lines = [...usage.map(commandName), ...examples()];
  const defaults: Record<string, string | undefined> = command.defaults ?? {};
  const described = Object.entries<Variable>(VARIABLES)
    .filter(([name, { needsDeno }]) =>
      (variables as string[]).includes(name) && (HAS_DENO_KV || !needsDeno)
    )
    .map(([name, it]) => {
      const byDefault = defaults[name] ?? it.default;
      return [name, it.meaning + (byDefault === undefined ? "" : ` (default: ${byDefault})`)];
    });
  const exitCodes = [
    "0 done",
    ...(refusal === undefined ? [] : [`1 ${refusal}`]),
    "2 the command could not run",
    ...(noResult === undefined ? [] : [`3 ${noResult}`]),
  ];
  const parts = [
    wrap(`${title}. ${details}`, 0),
    lines.map((line) => "  " + wrap(line, 6)).join("\n"),
    columns(Object.entries(flags)),
    described.length === 0 ? "" : `Environment variables:\n${columns(described)}`,
    wrap(`Exit codes: ${exitCodes.join("; ")}.`, 0),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

function columns(rows: string[][]): string {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}   ${wrap(meaning, width + 5)}`)
    .join("\n");
}

/** Breaks a text into lines between words. The first line begins after `indent` columns, as all others do. */
function wrap(text: string, indent: number): string {
  const lines = [""];
  for (const word of text.trim().split(/\s+/)) {
    const line = `${lines.at(-1)} ${word}`.trim();
    if (line.length <= WIDTH - indent) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.join(`\n${" ".repeat(indent)}`);
}
