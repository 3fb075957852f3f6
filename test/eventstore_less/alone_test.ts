/** The engine stands alone: it imports nothing outside its folder but packages, and a copy of it works elsewhere. */

import { existsSync, globSync } from "node:fs";
import { builtinModules } from "node:module";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import engine from "../../src/eventstore_less/deno.json" with { type: "json" };
import { EngineCopy } from "../support/engine_copy.ts";
import { type Import, importsOf } from "../support/imports_of.ts";
import { NODE } from "../support/programs.ts";
import { permissions, PROCESSES, testNeeding } from "../support/test_needing.ts";

const FOLDER = new URL("../../src/eventstore_less/", import.meta.url);

/** The name in deno.json by which a package is imported; `undefined` if it names none. */
function packageOf(specifier: string): string | undefined {
  return Object.keys(engine.imports)
    .find((name) => name.endsWith("/") ? specifier.startsWith(name) : specifier === name);
}

/** Why an import in a file of the engine is wrong; `undefined` if it is right. */
function faultOf(file: string, { specifier }: Import): string | undefined {
  if (specifier === undefined) return "names no module";
  if (specifier.startsWith("node:")) {
    const module = specifier.slice("node:".length);
    // The list of Deno lacks some modules that have no older name.
    const isKnown = builtinModules.includes(module) || module === "sqlite";
    return isKnown ? undefined : "is no module of Node";
  }
  if (!specifier.startsWith(".")) {
    return packageOf(specifier) === undefined ? "is no package of its deno.json" : undefined;
  }
  const target = new URL(specifier, new URL(file, FOLDER));
  if (!target.href.startsWith(FOLDER.href)) return "leads outside";
  return existsSync(target) ? undefined : "does not exist";
}

testNeeding(permissions("read"))(
  "Every import of the engine ends in its folder, in Node or in a package of its deno.json",
  async () => {
    const counts: Record<string, number> = { static: 0, types: 0, dynamic: 0, url: 0 };
    const packages = new Set<string | undefined>();
    const wrong: string[] = [];
    const files = globSync("**/*.{ts,tsx,js}", { cwd: FOLDER.pathname });
    for (const file of files) {
      for (const found of importsOf(await Deno.readTextFile(new URL(file, FOLDER)))) {
        counts[found.kind]++;
        packages.add(packageOf(found.specifier ?? ""));
        const fault = faultOf(file, found);
        if (fault !== undefined) wrong.push(`${file} imports ${found.specifier}, which ${fault}`);
      }
    }
    assertEquals(wrong, []);
    assert(files.length > 100, `found only ${files.length} files`);
    assert(
      counts.static > 300 && counts.types > 100 && counts.dynamic >= 3,
      JSON.stringify(counts),
    );
    assertEquals(packages, new Set([undefined, ...Object.keys(engine.imports)]));
  },
);

testNeeding(permissions("read"))(
  "A wrong import of the engine is found, of whatever kind it is",
  () => {
    const wrong: [source: string, fault: string][] = [
      ['import { NAME } from "../../settings/version.ts";', "leads outside"],
      ['import {\n  a,\n  b,\n} from "../../settings/version.ts";', "leads outside"],
      ['import type { Pet } from "../../../events/pet.ts";', "leads outside"],
      ['export * from "../../main.ts";', "leads outside"],
      ['export type { Pet } from "../../main.ts";', "leads outside"],
      ['import "../../main.ts";', "leads outside"],
      ['const main = await import("../../main.ts");', "leads outside"],
      ['type Main = typeof import("../../main.ts");', "leads outside"],
      ['new Worker(new URL("../../worker.js", import.meta.url));', "leads outside"],
      ['import.meta.resolve("../../worker.js");', "leads outside"],
      ['import { head } from "./no_such_file.ts";', "does not exist"],
      ['import { head } from "eventstore-less";', "is no package of its deno.json"],
      ['import { writeStdout } from "this-runtime/stdio.ts";', "is no package of its deno.json"],
      ['import { ulid } from "@std/ulid";', "is no package of its deno.json"],
      ['import { Pool } from "pg";', "is no package of its deno.json"],
      ['import { z } from "zodiac";', "is no package of its deno.json"],
      ['import { z } from "npm:zod@4.6.7";', "is no package of its deno.json"],
      ['const { Pool } = require("pg-pool");', "is no package of its deno.json"],
      ['import { run } from "node:runner";', "is no module of Node"],
      ["const main = await import(path);", "names no module"],
      ["new Worker(new URL(path, import.meta.url));", "names no module"],
    ];
    for (const [source, fault] of wrong) {
      const faults = importsOf(source).map((found) => faultOf("log/head.ts", found));
      assertEquals(faults, [fault], source);
    }
  },
);

testNeeding(permissions("read"))(
  "A right import of the engine is not taken for a wrong one",
  () => {
    const right = `
    /** Not an import: from "../../main.ts". */
    import { type Head } from "./head.ts";
    import type { z } from "zod";
    import Client from "pg/lib/client.js";
    const { openKv } = await import("@deno/kv");
    const source = \`import process from "node:process";\`;`;
    const found = importsOf(right);
    assertEquals(found.map(({ kind }) => kind), ["types", "static", "static", "static", "dynamic"]);
    assertEquals(found.map((it) => faultOf("log/head.ts", it)), found.map(() => undefined));
  },
);

testNeeding(PROCESSES)(
  "A copy of the engine runs the quick start in memory, on SQLite and on Deno KV",
  async () => {
    await using copy = await EngineCopy.make();
    await copy.check();
    await copy.runOnDeno(":memory:");
    await copy.runOnDeno("sqlite.sqlite3");
    await copy.runOnDeno("deno_kv.sqlite3", "--unstable-kv");
    for (const name of ["sqlite", "deno_kv"]) {
      const { size } = await Deno.stat(`${copy.folder}/${name}.sqlite3`);
      assert(size > 0, name);
    }
  },
);

testNeeding(PROCESSES, {
  name: "Node, as deno task test:node installs",
  isMet: PROCESSES.isMet && existsSync(NODE),
})("A copy of the engine runs the quick start on Node, in memory and on SQLite", async () => {
  await using copy = await EngineCopy.make();
  await copy.installOnNode();
  await copy.runOnNode(":memory:");
  await copy.runOnNode("node.sqlite3");
  const program = `
    import { defineApplication, openEventStore } from "eventstore-less";
    const application = defineApplication({ name: "Invoices", collections: [] });
    await openEventStore(application, "http://localhost:1").catch(({ message }) => {
      console.log(message);
    });`;
  assertStringIncludes(await copy.evaluateOnNode(program), "KV Connect needs Deno");
});
