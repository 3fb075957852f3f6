import { globSync } from "node:fs";
import { assert, assertEquals } from "@std/assert";
import { dirname, relative } from "node:path";
import { COMMANDS } from "../scripts/cli/commands.ts";
import engine from "../src/eventstore_less/deno.json" with { type: "json" };
import { permissions, testNeeding } from "./support/test_needing.ts";

const test = testNeeding(permissions("read"));

const ROOT = new URL("../", import.meta.url).pathname;

const ENGINE = "src/eventstore_less/";

/** The modules of the engine that others import. */
const DOORS = Object.values(engine.exports).map((path) => path.replace("./", ENGINE));

/** The parts that differ between runtimes. `this-runtime/` is the first in `deno.json`, and the second in the build. */
const RUNTIMES = ["src/runtime/deno/", "src/runtime/node/"];

/** The one module of the application that the engine imports. Any module may, unless this makes a circle. */
const APPLICATION = "src/application.ts";

/**
 * The layers of the program, the lowest first. A file imports only from its own room and from lower layers; the
 * rooms of one layer do not import each other.
 */
function layersOf(application: string): RegExp[][] {
  return [
    [/^deno\.json$/],
    [/^src\/encoding\//, /^src\/runtime\//, /^src\/settings\/version\.ts$/],
    [/^events\//],
    [/^src\/eventstore_less\/(definitions|names|tables)\.ts$/],
    [/^src\/eventstore_less\/store\//],
    [/^src\/eventstore_less\/(keyspace|service_error)\.ts$/],
    [/^src\/eventstore_less\/log\//],
    [/^src\/eventstore_less\/projections\//],
    [/^src\/eventstore_less\/append\//],
    [/^src\/eventstore_less\/feed\//, /^src\/eventstore_less\/instance\.ts$/],
    [/^src\/eventstore_less\/idempotency\//],
    [/^src\/eventstore_less\/doors\//],
    [/^src\/telemetry\//, /^src\/keys\//],
    [/^src\/api\//],
    foldersOfCollections(application),
    [/^src\/application\.ts$/],
    [/^src\/window\//],
    [/^src\/http\//],
    [/^src\/settings\//, /^src\/server\//],
    [/^src\/service\.ts/],
    [/^src\/life_cycle\//],
    [/^src\/main\.ts/],
    [/^scripts\/cli\//],
    [/^scripts\/guarded\//, /^scripts\/published\//],
    [/^scripts\/verify\//],
    Object.keys(COMMANDS).map((name) => new RegExp(`^scripts/${name}/`)),
    [/^scripts\/node\//, /^scripts\/build\//, /^scripts\/deploy\//, /^scripts\/help\//],
  ];
}

/**
 * The folders from which the application has its collections. The folder of API keys is in a lower layer, too, and
 * counts there.
 */
function foldersOfCollections(application: string): RegExp[] {
  const imports = application.matchAll(/^import .* from "\.\/(\w+)\/\w+\.ts";$/gm);
  return Array.from(imports, ([, folder]) => new RegExp(`^src/${folder}/`));
}

/** The layer and the room of a file. A room is identified by its pattern. */
function placeOf(layers: RegExp[][], file: string): { layer: number; room: RegExp } {
  for (const [layer, rooms] of layers.entries()) {
    const room = rooms.find((pattern) => pattern.test(file));
    if (room !== undefined) return { layer, room };
  }
  throw new Error(`${file} is in no layer`);
}

/** All sources by their paths. */
function allSources(): [file: string, text: string][] {
  return globSync("{events,src,scripts}/**/*.{ts,tsx}", { cwd: ROOT })
    .filter((file) => !file.endsWith(".d.ts"))
    .map((file) => [file, Deno.readTextFileSync(ROOT + file)]);
}

interface Import {
  /** The path of the imported file. */
  file: string;
  /** Whether only types are imported, so that nothing depends on it at run time. */
  isOfTypes: boolean;
}

/** The files that a source imports. */
function importsOf(file: string, text: string): Import[] {
  const imports = text.matchAll(
    /(?:from|import)\s*\(?\s*"((?:\.|eventstore-less\/|this-runtime\/)[^"]+)"|^(?:im|ex)port type [^;"]+ from "((?:\.|eventstore-less\/|this-runtime\/)[^"]+)"/gm,
  );
  return [...imports].map(([, specifier, specifierOfTypes]) => ({
    file: fileOf(file, specifier ?? specifierOfTypes),
    isOfTypes: specifier === undefined,
  }));
}

/** The path of a specifier in a file. */
function fileOf(file: string, specifier: string): string {
  const url = specifier.startsWith(".")
    ? new URL(specifier, `file://${ROOT}${file}`)
    : new URL(import.meta.resolve(specifier));
  return relative(ROOT, url.pathname);
}

/** Whether an import leads into the engine, or out of it. */
function crossesDoor(file: string, target: string): boolean {
  return file.startsWith(ENGINE) !== target.startsWith(ENGINE);
}

test("Imports point one way, from higher layers to lower ones", () => {
  let imports = 0;
  const wrong: string[] = [];
  const layers = layersOf(Deno.readTextFileSync(ROOT + APPLICATION));
  for (const [file, text] of allSources()) {
    const from = placeOf(layers, file);
    for (const { file: target } of importsOf(file, text)) {
      imports++;
      const to = placeOf(layers, target);
      const isBelow = to.layer < from.layer || to.room === from.room;
      const isAllowed = isBelow || target === APPLICATION;
      if (!isAllowed) wrong.push(`${file} imports ${target}`);
    }
  }
  assert(imports > 300, `found only ${imports} imports`);
  assertEquals(wrong, []);
});

test("No files import each other in a circle, also within a folder", () => {
  const imports = new Map(
    allSources().map(([file, text]) => {
      // The engine and the application have types of each other.
      const targets = importsOf(file, text)
        .filter((target) => !(target.isOfTypes && crossesDoor(file, target.file)));
      return [file, targets.map((target) => target.file)];
    }),
  );
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

test("Others import the doors of the engine, and the engine imports encoding/, runtime/ and one module of the application", () => {
  const wrong: string[] = [];
  for (const [file, text] of allSources()) {
    for (const { file: target } of importsOf(file, text)) {
      if (!crossesDoor(file, target)) continue;
      const isAllowed = file.startsWith(ENGINE)
        ? target === APPLICATION || /^src\/(encoding|runtime)\//.test(target)
        : DOORS.includes(target);
      if (!isAllowed) wrong.push(`${file} imports ${target}`);
    }
  }
  assertEquals(wrong, []);
});

/** A comment of several lines, or one at the start of a line. */
const COMMENTS = /\/\*\*?\s[^]*?\*\/|^\s*\/\/.*$/gm;

/** The words of the application. A status of HTTP is none of them. */
const NAMES_OF_ANIMALS =
  /\b(animals?|pets?|categor(y|ies)|categoryid)\b|pet(?=[A-Z_])|Pet[A-Z]|Pets?\b/;

/** The commands that print animals for people, and add samples. */
const COMMANDS_FOR_PEOPLE = [
  "scripts/dev/",
  "scripts/log/csv_event.ts",
  "scripts/log/pretty_event.ts",
];

test("No file of the engine or of the commands names an animal", () => {
  const wrong: string[] = [];
  for (const [file, text] of allSources()) {
    const isChecked = file.startsWith(ENGINE) || file.startsWith("scripts/");
    if (!isChecked || COMMANDS_FOR_PEOPLE.some((path) => file.startsWith(path))) continue;
    const code = text.replace(COMMENTS, "");
    const found = NAMES_OF_ANIMALS.exec(code);
    if (found !== null) wrong.push(`${file} names ${found[0]}`);
  }
  assertEquals(wrong, []);
});

/** The facilities of the machine, and the only files and folders that may use each. */
const FROM_THE_MACHINE: [what: RegExp, where: string[]][] = [
  [/\bprocess\.env\b/, [
    "src/runtime/node",
    "src/settings/config.ts",
    "scripts/node",
    "scripts/start/supervisor.ts",
  ]],
  [/\bDate\.now\(|\bMath\.random\(|\bcrypto\.getRandom|\bsetTimeout\(/, [
    "src/runtime",
    "src/window",
    "scripts",
  ]],
  [/\bperformance\.now\(/, ["src/runtime", "src/window", "scripts"]],
];

test("Only the named parts use the environment, clocks, timers and randomness", () => {
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

test("Deno is named nowhere but in its folder, also not in comments, configuration and manuals", () => {
  const files = globSync("{events,scripts,src}/**/*", { cwd: ROOT })
    .filter((file) => Deno.statSync(ROOT + file).isFile && !file.startsWith(RUNTIMES[0]));
  assert(files.length > 200);
  const wrong = files.filter((file) => /\bDeno\.\w/.test(Deno.readTextFileSync(ROOT + file)));
  assertEquals(wrong, []);
});

test("The runtimes have the same modules, and only the program for Node names those of Node", () => {
  const [ofDeno, ofNode] = RUNTIMES.map((folder) => globSync("*.ts", { cwd: ROOT + folder }));
  assert(ofDeno.length > 5);
  assertEquals(ofDeno.filter((file) => !ofNode.includes(file)), []);
  const wrong: string[] = [];
  for (const [file, text] of allSources()) {
    const named = importsOf(file, text).filter((it) =>
      /^src\/runtime\/(deno|node)\//.test(it.file)
    );
    const isAllowed = /^(src\/runtime\/(deno|node)|scripts\/node)\//.test(file) ||
      !/\/runtime\/(deno|node)\//.test(text);
    if (named.length > 0 && !isAllowed) wrong.push(file);
  }
  assertEquals(wrong, []);
});
