/** A copy of the folder of the engine in an otherwise empty folder, with the program that its README shows. */

import { assertEquals } from "@std/assert";
import { cp } from "node:fs/promises";
import engine from "../../src/eventstore_less/deno.json" with { type: "json" };
import { NODE } from "./programs.ts";
import { expectDone } from "./third_party_tools.ts";
import { ROOT } from "./with_project_copy.ts";

/** The packages are in the cache, because this project has loaded them. */
const DENO_FLAGS = ["--quiet", "--cached-only", "--no-lock"];

const EXPECTED = `
  appended [ [ 1, "2026-1" ], [ 2, "2026-2" ], [ 3, "2026-3" ] ]
  read { id: "2026-2", customer: "Bob", cents: 99 }
  list at 3 [ { id: "2026-3", customer: "Cid", cents: 5 }, { id: "2026-2", customer: "Bob", cents: 99 } ]
  followed 2 InvoiceIssued Bob
  followed 3 InvoiceIssued Cid
  followed 4 InvoiceIssued Dan
  audit { sound: true, position: 4 }`;

export class EngineCopy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<EngineCopy> {
    const folder = await Deno.realPath(await Deno.makeTempDir());
    await cp(`${ROOT}src/eventstore_less`, `${folder}/eventstore_less`, { recursive: true });
    await cp(`${ROOT}test/quick_start/quick_start.ts`, `${folder}/quick_start.ts`);
    const { zod } = engine.imports;
    const settings = { workspace: ["./eventstore_less"], imports: { zod } };
    await Deno.writeTextFile(`${folder}/deno.json`, JSON.stringify(settings));
    return new EngineCopy(folder);
  }

  /** Proves the types of all modules, and of the program. */
  async check(): Promise<void> {
    await this.#run(Deno.execPath(), ["check", ...DENO_FLAGS, "."]);
  }

  async runOnDeno(store: string, ...flags: string[]): Promise<void> {
    const args = ["run", ...DENO_FLAGS, "--allow-all", ...flags, "quick_start.ts", store];
    expectAnswers(await this.#run(Deno.execPath(), args));
  }

  /** Installs the packages for Node, which runs the sources themselves. */
  async installOnNode(): Promise<void> {
    const { name, exports, imports } = engine;
    const doors = Object.entries(exports)
      .map(([door, path]) => [door, path.replace("./", "./eventstore_less/")]);
    const packages = Object.values(imports)
      .map((specifier) => /^npm:\/?(@?[^@]+)@([^/]+)/.exec(specifier)!)
      // Only Deno has a client of KV Connect.
      .filter(([, dependency]) => dependency !== "@deno/kv")
      .map(([, dependency, version]) => [dependency, version]);
    await Deno.writeTextFile(
      `${this.folder}/package.json`,
      JSON.stringify({
        name,
        type: "module",
        exports: Object.fromEntries(doors),
        dependencies: Object.fromEntries(packages),
      }),
    );
    await this.#run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline"]);
  }

  async runOnNode(store: string): Promise<void> {
    expectAnswers(await this.#run(NODE, ["quick_start.ts", store]));
  }

  /** Runs a program of one line, and resolves to what it prints. */
  async evaluateOnNode(program: string): Promise<string> {
    return await this.#run(NODE, ["--input-type=module", "--eval", program]);
  }

  #run(program: string, args: string[]): Promise<string> {
    return expectDone(program, args, { cwd: this.folder });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** The runtimes print objects with other quotes and line breaks. */
function expectAnswers(output: string): void {
  const plain = (text: string) => text.replaceAll("'", '"').replaceAll(/\s+/g, " ").trim();
  assertEquals(plain(output), plain(EXPECTED));
}
