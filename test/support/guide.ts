/** The guides for changes of the code, as tests follow them in a copy of the project. */

import { assertEquals } from "@std/assert";
import { ROOT } from "./with_project_copy.ts";

const GUIDES_OF_HTTP = ["Add an operation"];

/** The blocks of code of a guide, in order. */
export function codeOfGuide(title: string): Promise<string[]> {
  return blocksOf(title, "ts");
}

/** The arguments of Deno in the commands that a guide says. */
export async function commandsOfGuide(title: string): Promise<string[][]> {
  const [commands] = await blocksOf(title, "sh");
  return commands.trim().split("\n").map((line) => line.split(" ").slice(1));
}

/** The blocks of a guide in a language, without the indentation of their lists. */
async function blocksOf(title: string, language: string): Promise<string[]> {
  const folder = GUIDES_OF_HTTP.includes(title) ? "src/http" : "src";
  const readme = await Deno.readTextFile(`${ROOT}${folder}/README.md`);
  const [guide] = new RegExp(`\n## ${title}\n[^]*?(?=\n## |$)`).exec(readme)!;
  const blocks = guide.matchAll(new RegExp(`^( *)\`\`\`${language}\n([^]*?)\`\`\``, "gm"));
  return Array.from(blocks, ([, indentation, text]) => {
    return text.replaceAll(new RegExp(`^${indentation}`, "gm"), "");
  });
}

/** Expects that Deno succeeds in a copy of the project. */
export async function expectDeno(project: string, args: string[]): Promise<void> {
  const { code, output } = await runDeno(project, args);
  assertEquals(code, 0, output);
}

export async function runDeno(
  project: string,
  args: string[],
  env: Record<string, string> = {},
) {
  const command = new Deno.Command(Deno.execPath(), {
    args,
    cwd: project,
    env: { NO_COLOR: "1", ...env },
  });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}
