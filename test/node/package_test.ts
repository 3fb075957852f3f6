/** Packs the engine for npm, and uses the package in an empty folder as a stranger does. */

import { STORE_CONTRACT } from "eventstore-less/testing";
import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { dirname } from "node:path";
import engine from "../../src/eventstore_less/deno.json" with { type: "json" };
import { BUILT_PROGRAM, NODE } from "../support/programs.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectDone, install } from "../support/third_party_tools.ts";
import { ROOT } from "../support/with_project_copy.ts";

const TARBALL = `${ROOT}.build/${engine.name}-${engine.version}.tgz`;

/** The compiler, the types of Node, and the version of zod that the engine is tested with. */
const TYPESCRIPT = "typescript@6.0.3";
const BESIDE = [TYPESCRIPT, "@types/node@24.19.4", engine.imports.zod.replace("npm:", "")];

const NPM = BUILT_PROGRAM.isMet
  ? await install("npm and its registry", () => expectDone("npm", ["view", TYPESCRIPT, "version"]))
  : BUILT_PROGRAM;

/** Imports every entry. A line below `@ts-expect-error` is a mistake, and another one that the compiler accepts is, too. */
const PROGRAM = `
${
  Object.keys(engine.exports).map((entry, index) =>
    `import * as entry${index} from "${entry.replace(".", engine.name)}";\nvoid entry${index};`
  ).join("\n")
}
import { type Collection, dataOf, defineApplication, openEventStore } from "eventstore-less";
import { audit } from "eventstore-less/tools";
import { z } from "zod";

const Note = z.strictObject({ id: z.string(), text: z.string() });
type NoteAdded = { type: "NoteAdded"; data: z.infer<typeof Note> };
const NOTES: Collection<NoteAdded> = {
  name: "notes",
  isId: () => true,
  exampleId: "1",
  events: {
    NoteAdded: {
      data: Note,
      release: "1.0",
      id: ({ id }) => id,
      isFirst: true,
      project: ({ event, line }) => [{ key: ["note", event.data.id], content: dataOf(line) }],
    },
  },
  kinds: { note: { key: ["text"], owner: ([, id]) => \`note \${id}\` } },
};
const application = defineApplication({ name: "Notes", collections: [NOTES] });
const store = await openEventStore(application, ":memory:");
const data = { id: "1", text: "a" };
const { events: [event] } = await store.append({ decide: () => [{ type: "NoteAdded", data }] });
const text: string = event.data.text;
const sound: boolean = (await audit(store)).sound;
if (text !== "a" || !sound) throw new Error("The note is lost");

// @ts-expect-error -- there is no such type of events
await store.append({ decide: () => [{ type: "NoteRemoved", data }] });
// @ts-expect-error -- a number is no text
await store.append({ decide: () => [{ type: "NoteAdded", data: { id: "2", text: 2 } }] });
// @ts-expect-error -- a key is a list
await store.read("note");
// @ts-expect-error -- the application comes first
await openEventStore(":memory:");
// @ts-expect-error -- an audit needs a store
await audit(application);
`;

const CONTRACT = `
import { openMemoryStore, STORE_CONTRACT } from "eventstore-less/testing";
import { test } from "node:test";

for (const [name, check] of Object.entries(STORE_CONTRACT)) test(name, () => check(openMemoryStore));
`;

const CONFIG = {
  compilerOptions: {
    module: "nodenext",
    target: "es2024",
    lib: ["es2024", "esnext.disposable", "dom"],
    types: ["node"],
    strict: true,
    noEmit: true,
  },
};

testNeeding(NPM)("The package for npm works on Node in an empty folder", async (context) => {
  const folder = await Deno.realPath(await Deno.makeTempDir());
  const env = { PATH: `${dirname(NODE)}:${Deno.env.get("PATH")}` };
  const npm = (...args: string[]) =>
    expectDone("npm", [...args, "--no-audit", "--no-fund", "--prefer-offline"], {
      cwd: folder,
      env,
    });
  try {
    await expectDone(Deno.execPath(), ["task", "pack"], { cwd: ROOT });

    await context.step("it has the modules, their types and the README of builders", async () => {
      const names = (await expectDone("tar", ["-tzf", TARBALL])).split("\n")
        .filter((name) => !name.endsWith("/") && name !== "");
      const others = names.filter((name) => !/\.(js|d\.ts)$/.test(name)).sort();
      assertEquals(others, ["package/README.md", "package/package.json"]);
      assertEquals(names.filter((name) => /_test\.|internals/.test(name)), []);
      assertLess((await Deno.stat(TARBALL)).size, 250_000);
    });

    await npm("install", "--engine-strict", TARBALL);
    await context.step("npm installs what it needs, and no native module", () => {
      const names = Array.from(Deno.readDirSync(`${folder}/node_modules`), ({ name }) => name);
      assertEquals(names.filter((name) => name.startsWith("@")), []);
      for (const name of ["deno-std", "pg", "zod"]) assert(names.includes(name), name);
    });

    await npm("install", ...BESIDE);
    await Deno.copyFile(`${ROOT}test/quick_start/quick_start.ts`, `${folder}/quick_start.ts`);
    await Deno.writeTextFile(`${folder}/package.json`, await asModule(folder));
    for (const location of [":memory:", "invoices.sqlite3"]) {
      await context.step(`the quick start runs on ${location}`, async () => {
        const output = await expectDone(NODE, ["quick_start.ts", location], { cwd: folder, env });
        assertMatch(output, /^appended [^]*\naudit { sound: true, position: 4 }\n$/);
      });
    }

    await context.step("the contract of a store runs by node:test", async () => {
      await Deno.writeTextFile(`${folder}/contract.test.ts`, CONTRACT);
      const args = ["--test", "--test-reporter=tap", "contract.test.ts"];
      const output = await expectDone(NODE, args, { cwd: folder, env });
      assertMatch(output, RegExp(`^# pass ${Object.keys(STORE_CONTRACT).length}$`, "m"));
    });

    await context.step("the compiler accepts a program, and refuses its mistakes", async () => {
      await Deno.writeTextFile(`${folder}/notes.ts`, PROGRAM);
      await Deno.writeTextFile(`${folder}/tsconfig.json`, JSON.stringify(CONFIG));
      await expectDone(NODE, ["node_modules/typescript/bin/tsc"], { cwd: folder, env });
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The `package.json` that npm made, with the kind of modules that the programs are. */
async function asModule(folder: string): Promise<string> {
  const manifest = JSON.parse(await Deno.readTextFile(`${folder}/package.json`));
  return JSON.stringify({ ...manifest, type: "module" });
}
