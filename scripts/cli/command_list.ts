import { commandName } from "../../src/runtime/words.ts";
import { NAME, VERSION } from "../../src/settings/version.ts";
import { COMMANDS } from "./commands.ts";

/** Lists the commands of operators with their titles. `dev` is for developers. */
export function commandList(): string {
  const commands = Object.entries(COMMANDS).filter(([name]) => name !== "dev");
  const width = Math.max(...commands.map(([name]) => name.length));
  const lines = commands.map(([name, { title }]) => `  ${name.padEnd(width)}   ${title}`);
  return `${NAME} ${VERSION}

  ${commandName("COMMAND [ARGUMENTS]")}

${lines.join("\n")}

Each command has --help.`;
}
