/** The rules of the sources. Each rule counts what it looks at, and is tried on a source that breaks it. */

import { relative } from "node:path";
import { COMMENTS, type Import, importsOf } from "./support/imports_of.ts";
import { APPLICATION, ENGINE, layersOf, placeOf } from "./support/layers.ts";
import { type Finding, importing, rule, type Source } from "./support/source_rule.ts";
import { ROOT } from "./support/with_project_copy.ts";

/** The parts that differ between runtimes. `this-runtime/` is `src/runtime/deno/`, and that of Node in the build. */
const RUNTIMES = [`${ENGINE}runtime/`, "src/runtime/"];

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
    importing("src/window/data/a.ts", "../animal/status_picker.tsx"),
    importing("src/window/parts/a.tsx", "../csv/parse_csv.ts"),
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

rule("What the page knows is in data/, which draws nothing", {
  moreThan: 15,
  planted: [{ file: "src/window/data/a.tsx", text: "" }],
}, (sources) => {
  const files = sources.map(({ file }) => file).filter((it) => it.startsWith("src/window/data/"));
  return { looked: files.length, wrong: files.filter((it) => it.endsWith(".tsx")) };
});

/** The modules that a supervisor loads one after the other, and how many these and their imports are. */
const SUPERVISOR = ["scripts/main.ts", "scripts/start/command.ts", "scripts/start/supervisor.ts"];
const MODULES_OF_SUPERVISOR = 37;

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

rule("Others import the entries of the engine by their names", {
  moreThan: 150,
  planted: [
    importing("src/keys/a.ts", "../eventstore_less/mod.ts"),
    { file: "src/keys/a.ts", text: 'const a = await import("../eventstore_less/mod.ts");' },
  ],
}, (sources) =>
  judgeImports(sources, (file, target, specifier) => {
    if (file.startsWith(ENGINE)) return undefined;
    const isCode = target.startsWith(ENGINE) && !target.endsWith(".json");
    return isCode ? specifier.startsWith("eventstore-less") : undefined;
  }));

/** The words of the application. A status of HTTP is none of them. */
const NAMES_OF_ANIMALS =
  /\b(animals?|pets?|categor(y|ies)|categoryid)\b|pet(?=[A-Z_])|Pet[A-Z]|Pets?\b/;

/** The engine and the commands, but for those that print animals for people, add samples, and judge the interface. */
const WITHOUT_ANIMALS =
  /^(src\/eventstore_less|scripts)\/(?!dev\/|conformance\/|log\/(csv|pretty)_event\.ts)/;

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
