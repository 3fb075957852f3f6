/** Rules of the sources. Each counts what it looks at, and is tried on sources that break it. */

import { globSync } from "node:fs";
import { assert, assertEquals, assertGreater } from "@std/assert";
import { permissions, testNeeding } from "./test_needing.ts";
import { ROOT } from "./with_project_copy.ts";

export interface Source {
  file: string;
  text: string;
}

/** What a rule looked at, and what breaks it. */
export interface Finding {
  looked: number;
  wrong: string[];
}

export interface Expected {
  /** There are more things than this, so the rule has found them. */
  moreThan: number;
  /** Each is found, beside all other sources. */
  planted: Source[];
  pattern?: string;
}

/** Declares the test of a rule: nothing in the sources of the project is wrong, and each planted source is. */
export function rule(
  name: string,
  { moreThan, planted, pattern = "{events,src,scripts}/**/*.{ts,tsx}" }: Expected,
  judge: (sources: Source[]) => Finding,
): void {
  testNeeding(permissions("read"))(name, () => {
    const sources = read(pattern);
    const { looked, wrong } = judge(sources);
    assertEquals(wrong, []);
    assertGreater(looked, moreThan, `${looked} are too few to be all`);
    for (const { file, text } of planted) {
      const others = sources.filter((it) => it.file !== file);
      const found = judge([...others, { file, text }]).wrong;
      assert(found.length > 0, `${text} in ${file} is not found`);
    }
  });
}

function read(pattern: string): Source[] {
  return globSync(pattern, { cwd: ROOT })
    .filter((file) => Deno.statSync(ROOT + file).isFile && !file.endsWith(".d.ts"))
    .map((file) => ({ file, text: Deno.readTextFileSync(ROOT + file) }));
}

/** A source that imports a module. */
export function importing(file: string, specifier: string): Source {
  return { file, text: `import { a } from "${specifier}";\n` };
}
