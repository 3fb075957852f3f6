/** The docstrings of the engine: each name of an entry has one, and all types that it names have, too. */

import { assert, assertEquals } from "@std/assert";
import engine from "../../src/eventstore_less/deno.json" with { type: "json" };
import { permissions, testNeeding } from "../support/test_needing.ts";
import { expectDone, run } from "../support/third_party_tools.ts";

const FOLDER = new URL("../../src/eventstore_less/", import.meta.url).pathname;
const ENTRIES = Object.values(engine.exports).map((path) => FOLDER + path.slice("./".length));

const test = testNeeding(permissions("read", "run", "write", "env"));

/** The types of packages are not ours, so it does not look into them. */
function lint(...files: string[]) {
  return run(Deno.execPath(), ["doc", "--lint", "--no-npm", ...files], { env: { NO_COLOR: "1" } });
}

test("deno doc --lint accepts all entries of the engine", async () => {
  const { code, output } = await lint(...ENTRIES);
  assertEquals(code, 0, output);
});

test("deno doc --lint refuses a name without a docstring, and a type that no entry exports", async () => {
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  const source = `interface Hidden {}
export function bare(): void {}
/** Shows what no entry exports. */
export function shows(): Hidden {}`;
  await Deno.writeTextFile(file, source);
  const { code, output } = await lint(file);
  await Deno.remove(file);
  assertEquals([code, output.match(/^error\[[a-z-]+\]/gm)?.sort()], [1, [
    "error[missing-jsdoc]",
    "error[private-type-ref]",
  ]]);
});

test("No two entries export the same name", async () => {
  const all: string[] = [];
  for (const entry of ENTRIES) all.push(...await namesOf(entry));
  assert(all.length > 150, `found only ${all.length} names`);
  assertEquals(all.filter((name, index) => all.indexOf(name) !== index), []);
});

/** The names that an entry exports. */
async function namesOf(entry: string): Promise<string[]> {
  const text = await expectDone(Deno.execPath(), ["doc", "--json", "--no-npm", entry]);
  const { symbols } = JSON.parse(text).nodes[`file://${entry}`];
  return symbols.map(({ name }: { name: string }) => name);
}
