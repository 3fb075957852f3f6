/** The rules of the sources. Each rule counts what it looks at, and is tried on a source that breaks it. */

import { relative } from "node:path";
import { COMMANDS } from "../scripts/commands.ts";
import engine from "../src/eventstore_less/deno.json" with { type: "json" };
import { COMMENTS, type Import, importsOf } from "./support/imports_of.ts";
import { type Finding, importing, rule, type Source } from "./support/source_rule.ts";
import { ROOT } from "./support/with_project_copy.ts";

const ENGINE = "src/eventstore_less/";

/** The modules of the engine that others import. */
const ENTRIES = Object.values(engine.exports).map((path) => path.replace("./", ENGINE));

/** The parts that differ between runtimes. `this-runtime/` is `src/runtime/deno/`, and that of Node in the build. */
const RUNTIMES = [`${ENGINE}runtime/`, "src/runtime/"];

/** Any module above the engine may import it, unless this makes a circle. */
const APPLICATION = "src/application.ts";

/**
 * The layers of the program, the lowest first. A file imports only from its own room and from lower layers; the
 * rooms of one layer do not import each other. A file is in the first room whose pattern it matches.
 */
function layersOf(application: string): RegExp[][] {
  return [
    ...layersOfEngine().map((rooms) => rooms.map((room) => new RegExp(`^${ENGINE}(?:${room})`))),
    [/^deno\.json$/, /^src\/encoding\//, /^src\/runtime\//, /^src\/settings\/version\.ts$/],
    [/^events\//],
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
    Object.keys(COMMANDS).map((name) => new RegExp(`^scripts/${name}/`)),
    [/^scripts\/(?:commands|main)\.ts$/, /^scripts\/(?:build|deploy)\//],
  ];
}

/** Each room as a pattern after the folder of the engine. */
function layersOfEngine(): string[][] {
  return [
    ["words\\.ts", "deno\\.json"],
    ["encoding/", "runtime/"],
    ["definitions\\.ts", "log/(line_text|actor|subject_id|erased)\\.ts", "store/"],
    ["complete_collection\\.ts", "service_error\\.ts"],
    ["keyspace\\.ts"],
    ["application(_faults)?\\.ts"],
    ["log/"],
    ["projections/"],
    ["append/"],
    ["feed/"],
    ["idempotency/", "record_reader\\.ts"],
    ["event_(store|command)\\.ts"],
    ["tools/"],
    ["testing/"],
    ENTRIES.map((path) => path.slice(ENGINE.length)),
  ];
}

/** The folders of the collections of the application. That of API keys is in a lower layer, too, and counts there. */
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

/** The imports of a source that lead to modules of the project, with the paths of these. */
function modulesOf({ file, text }: Source): (Import & { target: string })[] {
  return importsOf(text).flatMap((found) => {
    const { kind, specifier = "" } = found;
    const isOurs = /^(?:\.|eventstore-less(?:\/|$)|this-runtime\/)/.test(specifier);
    if (kind === "url" || !isOurs) return [];
    const url = specifier.startsWith(".")
      ? new URL(specifier, `file://${ROOT}${file}`)
      : new URL(import.meta.resolve(specifier));
    return [{ ...found, target: relative(ROOT, url.pathname) }];
  });
}

/** Judges each import. `isRight` returns `undefined` for one that the rule is not about. */
function judgeImports(
  sources: Source[],
  isRight: (file: string, target: string, specifier: string) => boolean | undefined,
): Finding {
  const judged = sources.flatMap((source) =>
    modulesOf(source).map(({ target, specifier }) => ({
      line: `${source.file} imports ${target}`,
      isRight: isRight(source.file, target, specifier!),
    }))
  ).filter((it) => it.isRight !== undefined);
  return { looked: judged.length, wrong: judged.filter((it) => !it.isRight).map((it) => it.line) };
}

rule("Imports point one way, from higher layers to lower ones", {
  moreThan: 1_000,
  planted: [
    importing(`${ENGINE}store/a.ts`, "../log/head.ts"),
    importing(`${ENGINE}feed/a.ts`, "../event_store.ts"),
    importing("src/keys/a.ts", "../http/handler.ts"),
  ],
}, (sources) => {
  const layers = layersOf(sources.find(({ file }) => file === APPLICATION)!.text);
  return judgeImports(sources, (file, target) => {
    const [from, to] = [placeOf(layers, file), placeOf(layers, target)];
    const isBelow = to.layer < from.layer || to.room === from.room;
    return isBelow || target === APPLICATION;
  });
});

rule("No files import each other in a circle, also within a folder", {
  moreThan: 300,
  planted: [importing(`${ENGINE}words.ts`, "./store/store_errors.ts")],
}, (sources) => {
  const targets = new Map(
    sources.map((it) => [it.file, modulesOf(it).map(({ target }) => target)]),
  );
  const circles: string[] = [];
  const done = new Set<string>();
  const follow = (file: string, path: string[]) => {
    if (path.includes(file)) {
      circles.push([...path.slice(path.indexOf(file)), file].join(" imports "));
      return;
    }
    if (done.has(file)) return;
    for (const target of targets.get(file) ?? []) follow(target, [...path, file]);
    done.add(file);
  };
  for (const file of targets.keys()) follow(file, []);
  return { looked: done.size, wrong: circles };
});

/** The modules that a supervisor loads one after the other, and how many these and their imports are. */
const SUPERVISOR = ["scripts/main.ts", "scripts/start/command.ts", "scripts/start/supervisor.ts"];
const MODULES_OF_SUPERVISOR = 35;

rule("A supervisor, which only watches other processes, loads few modules", {
  moreThan: 30,
  planted: [importing("scripts/cli/table_entry.ts", "eventstore-less")],
}, (sources) => {
  const modules = new Map(sources.map((source) => [source.file, modulesOf(source)]));
  const files = new Set(SUPERVISOR);
  for (const file of files) {
    const found = modules.get(file) ?? [];
    for (const { kind, target } of found) if (kind === "static") files.add(target);
  }
  const isWrong = files.size > MODULES_OF_SUPERVISOR;
  return { looked: files.size, wrong: isWrong ? [`It loads ${files.size}`] : [] };
});

rule("The engine imports nothing of others, and they import its entries by their names", {
  moreThan: 600,
  planted: [
    importing(`${ENGINE}log/a.ts`, "this-runtime/stdio.ts"),
    importing(`${ENGINE}log/a.ts`, "../../application.ts"),
    { file: `${ENGINE}a.ts`, text: 'const a = await import("../main.ts");' },
    importing("src/keys/a.ts", "../eventstore_less/mod.ts"),
  ],
}, (sources) =>
  judgeImports(sources, (file, target, specifier) => {
    if (file.startsWith(ENGINE)) return target.startsWith(ENGINE);
    const isCode = target.startsWith(ENGINE) && !target.endsWith(".json");
    return isCode ? specifier.startsWith("eventstore-less") : undefined;
  }));

/** The words of the application. A status of HTTP is none of them. */
const NAMES_OF_ANIMALS =
  /\b(animals?|pets?|categor(y|ies)|categoryid)\b|pet(?=[A-Z_])|Pet[A-Z]|Pets?\b/;

/** The engine and the commands, but for those that print animals for people, and add samples. */
const WITHOUT_ANIMALS = /^(src\/eventstore_less|scripts)\/(?!dev\/|log\/(csv|pretty)_event\.ts)/;

rule("No file of the engine or of the commands names an animal", {
  moreThan: 150,
  planted: [{ file: `${ENGINE}a.ts`, text: "const lastPetId = 1;" }],
}, (sources) => {
  const checked = sources.filter(({ file }) => WITHOUT_ANIMALS.test(file));
  const wrong = checked.filter(({ text }) => NAMES_OF_ANIMALS.test(text.replace(COMMENTS, "")));
  return { looked: checked.length, wrong: wrong.map(({ file }) => file) };
});

/** The facilities of the machine, and the only files and folders that may use each. */
const FROM_THE_MACHINE: [what: RegExp, where: RegExp][] = [
  [/\bprocess\.env\b/, /^(src\/(runtime\/node|settings\/config)|scripts\/start\/sup)/],
  [
    /\b(Date|performance)\.now\(|\bMath\.random\(|\bcrypto\.getRandom|\bsetTimeout\(/,
    /^(src\/((eventstore_less\/)?runtime|eventstore_less\/(tools|testing)|window)|scripts)\//,
  ],
];

rule("Only the named parts use the environment, clocks, timers and randomness", {
  moreThan: 10,
  planted: [
    { file: `${ENGINE}log/a.ts`, text: "const now = Date.now();" },
    { file: "src/http/a.ts", text: "const port = process.env.PORT;" },
  ],
}, (sources) => {
  const uses = sources.flatMap(({ file, text }) =>
    FROM_THE_MACHINE.filter(([what]) => what.test(text.replace(COMMENTS, "")))
      .map(([what, where]) => ({ line: `${file} uses ${what.source}`, isRight: where.test(file) }))
  );
  return { looked: uses.length, wrong: uses.filter((it) => !it.isRight).map((it) => it.line) };
});

rule("Deno is named nowhere but in its folders, also not in comments and manuals", {
  moreThan: 200,
  pattern: "{events,scripts,src}/**/*",
  planted: [{ file: "src/a.md", text: "`Deno.openKv()`" }],
}, (sources) => {
  const isOfDeno = (file: string) => RUNTIMES.some((folder) => file.startsWith(`${folder}deno/`));
  const others = sources.filter(({ file }) => !isOfDeno(file));
  const wrong = others.filter(({ text }) => /\bDeno\.\w/.test(text)).map(({ file }) => file);
  return { looked: others.length, wrong };
});

rule("The runtimes have the same modules, and only the named parts import these", {
  moreThan: 10,
  planted: [
    importing(`${ENGINE}store/a.ts`, "../runtime/node/kv.ts"),
    { file: "src/runtime/deno/a.ts", text: "" },
  ],
}, (sources) => {
  const files = new Set(sources.map(({ file }) => file));
  const lacking = [...files].filter((file) => /\/runtime\/deno\//.test(file))
    .map((file) => file.replace("/deno/", "/node/")).filter((file) => !files.has(file));
  const { looked, wrong } = judgeImports(sources, (file, target, specifier) => {
    const isOfRuntime = /\/runtime\/(deno|node)\//.test(target);
    if (!isOfRuntime || specifier.startsWith("this-runtime/")) return undefined;
    return /^src\/(eventstore_less\/)?runtime\//.test(file);
  });
  return { looked, wrong: [...wrong, ...lacking.map((file) => `There is no ${file}`)] };
});
