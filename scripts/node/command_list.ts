import { commandName } from "../../src/runtime/command_name.ts";
import { NAME, VERSION } from "../../src/settings/version.ts";
import { type CommandName, COMMANDS } from "../cli/commands.ts";

/** The text of `--help`: the commands of these names, with their titles. */
export function commandList(names: string[]): string {
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map((name) =>
    `  ${name.padEnd(width)}   ${COMMANDS[name as CommandName].title}`
  );
  return `${NAME} ${VERSION}

  ${commandName("COMMAND [ARGUMENTS]")}

${lines.join("\n")}

Each command has --help.`;
}
