/** The guides of src/README.md, as tests follow them in a copy of the project. */

import { assertEquals } from "@std/assert";
import { ROOT } from "./with_project_copy.ts";

/** The blocks of code of a guide, in order. */
export function codeOfGuide(title: string): Promise<string[]> {
  return blocksOf(title, "ts");
}

/** The arguments of Deno in the commands that the guide "Add a field" says. */
export async function commandsOfGuide(): Promise<string[][]> {
  const [commands] = await blocksOf("Add a field", "sh");
  return commands.trim().split("\n").map((line) => line.split(" ").slice(1));
}

async function blocksOf(title: string, language: string): Promise<string[]> {
  const readme = await Deno.readTextFile(`${ROOT}src/README.md`);
  const [guide] = new RegExp(`\n## ${title}\n[^]*?(?=\n## |$)`).exec(readme)!;
  const blocks = guide.matchAll(new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``, "g"));
  return Array.from(blocks, ([, text]) => text);
}

/** Expects that Deno succeeds in a copy of the project. */
export async function expectDeno(project: string, args: string[]): Promise<void> {
  const { code, output } = await runDeno(project, args);
  assertEquals(code, 0, output);
}

export async function runDeno(project: string, args: string[]) {
  const command = new Deno.Command(Deno.execPath(), {
    args,
    cwd: project,
    env: { NO_COLOR: "1" },
  });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}
