/** Rewrites what the stories expect in the files of their sections: `deno task test test/interface/interface_test.ts -- --update`. */

import { corrected } from "./corrected.ts";
import { type Change, hasClause, rewriteSource, UnwrittenError } from "./rewrite_source.ts";
import type { Expected, Story } from "./story.ts";
import { heard, type Listener, tellOn } from "./tell.ts";

/** Throws {@linkcode UnwrittenError} if somebody must rewrite the story by hand. */
export async function update(story: Story, listener: Listener): Promise<void> {
  const changes = await changesOf(story, listener);
  if (changes.length === 0) return;
  const folder = new URL(".", import.meta.url);
  for await (const { name } of Deno.readDir(folder)) {
    const file = new URL(name, folder);
    const source = name.endsWith("_test.ts") ? "" : await Deno.readTextFile(file);
    if (!hasClause(source, story.clause)) continue;
    await Deno.writeTextFile(file, rewriteSource(source, story, changes));
    return;
  }
  throw new UnwrittenError("Rewrite it by hand: its clause is made by a function");
}

/** What a story must say instead, so that all is as it says. */
export async function changesOf(story: Story, listener: Listener): Promise<Change[]> {
  const changes: Change[] = [];
  await tellOn(story, listener, ({ expected }, answer, known) => {
    const found = heard(expected, answer, known);
    if (found !== undefined) return found;
    const now = corrected(expected, answer, known);
    changes.push({ lines: expected.lines, texts: textsOf(now) });
    return heard(now, answer, known);
  });
  return changes;
}

function textsOf({ status, headers, body }: Expected): string[] {
  const lines = headers.map(([name, value]) => `${name}: ${value}`.trimEnd());
  return [String(status), ...lines, ...(body?.split("\n") ?? [])];
}
