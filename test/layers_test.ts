import { globSync } from "node:fs";
import { assert, assertEquals } from "@std/assert";
import { dirname, relative } from "node:path";
import { COMMANDS } from "../scripts/cli/commands.ts";
import { permissions, testNeeding } from "./support/test_needing.ts";

const test = testNeeding(permissions("read"));

const ROOT = new URL("../", import.meta.url).pathname;

/**
 * The layers of the program, the lowest first. A file imports only from its own room and from lower layers; the
 * rooms of one layer do not import each other.
 */
const LAYERS: RegExp[][] = [
  [/^events\//, /^deno\.json$/],
  [/^src\/encoding\//, /^src\/runtime\//],
  [/^src\/telemetry\//],
  [/^src\/store\//],
  [/^src\/keyspace/, /^src\/service_error/],
  [/^src\/log\//],
  [/^src\/append\//, /^src\/projections\//],
  [/^src\/keys\//],
  [/^src\/commands\//, /^src\/feed\//],
  [/^src\/http\//, /^src\/idempotency\//],
  [/^src\/settings\//, /^src\/server\//],
  [/^src\/service\.ts/],
  [/^src\/life_cycle\//],
  [/^src\/main\.ts/],
  [/^scripts\/cli\//],
  [/^scripts\/guarded\//, /^scripts\/published\//],
  [/^scripts\/verify\//],
  Object.keys(COMMANDS).map((name) => new RegExp(`^scripts/${name}/`)),
];

/** The layer and the room of a file. A room is identified by its pattern. */
function placeOf(file: string): { layer: number; room: RegExp } {
  for (const [layer, rooms] of LAYERS.entries()) {
    const room = rooms.find((pattern) => pattern.test(file));
    if (room !== undefined) return { layer, room };
  }
  throw new Error(`${file} is in no layer`);
}

/** All sources by their paths. */
function allSources(): [file: string, text: string][] {
  return globSync("{events,src,scripts}/**/*.ts", { cwd: ROOT })
    .filter((file) => !file.endsWith(".d.ts"))
    .map((file) => [file, Deno.readTextFileSync(ROOT + file)]);
}

/** The files that a source imports, types included, by their paths. */
function importsOf(file: string, text: string): string[] {
  const specifiers = text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...specifiers].map(([, specifier]) =>
    relative(ROOT, new URL(specifier, `file://${ROOT}${file}`).pathname)
  );
}

test("Imports point one way, from higher layers to lower ones", () => {
  let imports = 0;
  const wrong: string[] = [];
  for (const [file, text] of allSources()) {
    const from = placeOf(file);
    for (const target of importsOf(file, text)) {
      imports++;
      const to = placeOf(target);
      const isAllowed = to.layer < from.layer || to.room === from.room;
      if (!isAllowed) wrong.push(`${file} imports ${target}`);
    }
  }
  assert(imports > 300, `found only ${imports} imports`);
  assertEquals(wrong, []);
});

test("No files import each other in a circle, also within a folder", () => {
  const imports = new Map(allSources().map(([file, text]) => [file, importsOf(file, text)]));
  const circles: string[] = [];
  const done = new Set<string>();
  const follow = (file: string, path: string[]) => {
    if (path.includes(file)) {
      const circle = [...path.slice(path.indexOf(file)), file];
      circles.push(circle.join(" imports "));
      return;
    }
    if (done.has(file)) return;
    for (const target of imports.get(file) ?? []) follow(target, [...path, file]);
    done.add(file);
  };
  for (const file of imports.keys()) follow(file, []);
  assertEquals(circles, []);
});

/** The facilities of the machine, and the only files and folders that may use each. */
const FROM_THE_MACHINE: [what: RegExp, where: string[]][] = [
  [/\bDeno\.env\b/, ["src/settings/config.ts", "scripts"]],
  [/\bDate\.now\(|\bMath\.random\(|\bcrypto\.getRandom|\bsetTimeout\(/, [
    "src/runtime",
    "scripts",
  ]],
  [/\bperformance\.now\(/, ["src/runtime", "scripts"]],
  [/\bDeno\.openKv\(/, ["src/eventstore_less/store/deno_kv/kv_store.ts"]],
  // Another runtime must provide what these use; "Deno Deploy" is a name in messages.
  [/\bDeno\b(?! Deploy)/, [
    "src/runtime/stderr_logger.ts",
    "src/server/server.ts",
    "src/settings/config.ts",
    "src/eventstore_less/store/deno_kv/kv_store.ts",
    "src/eventstore_less/store/deno_kv/kv_connect_store.ts",
    "scripts",
  ]],
];

/** A comment of several lines, or one at the start of a line. */
const COMMENTS = /\/\*\*?\s[^]*?\*\/|^\s*\/\/.*$/gm;

test("Only the named parts use the environment, clocks, timers, randomness and Deno", () => {
  const wrong: string[] = [];
  for (const [file, text] of allSources()) {
    const code = text.replace(COMMENTS, "");
    for (const [what, where] of FROM_THE_MACHINE) {
      const isAllowed = where.some((path) => file === path || dirname(file).startsWith(path));
      if (!isAllowed && what.test(code)) wrong.push(`${file} uses ${what.source}`);
    }
  }
  assertEquals(wrong, []);
});
