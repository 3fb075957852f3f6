/**
 * `deno task pack`: writes `.build/eventstore-less-VERSION.tgz`, the engine as a package for npm, with JavaScript and types.
 * `deno pack` makes both. It wants a name with a scope and knows no engines, peers or exact versions, so it gets a copy
 * with another name, and its `package.json` is replaced.
 */

import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";

const ROOT = new URL("../../", import.meta.url).pathname;
const SOURCES = `${ROOT}src/eventstore_less`;
const engine = JSON.parse(readFileSync(`${SOURCES}/deno.json`, "utf8"));
const FOLDER = `${ROOT}.build`;
const TARBALL = `${FOLDER}/${engine.name}-${engine.version}.tgz`;

/** The schemas of an application come from its own zod, whose types fit only one copy of it. */
const PEER = "zod";

/** A native client of KV Connect, a protocol that few use. */
const OPTIONAL_PEER = "@deno/kv";

const work = mkdtempSync(join(tmpdir(), "pack-"));
try {
  pack(work);
} finally {
  rmSync(work, { recursive: true });
}
const size = Math.round(statSync(TARBALL).size / 1_000);
console.error(`Wrote ${TARBALL.slice(ROOT.length)}, ${size} KB`);

function pack(folder: string): void {
  const copy = join(folder, "sources");
  cpSync(SOURCES, copy, { recursive: true });
  const config = JSON.stringify({ ...engine, name: `@pack/${engine.name}` });
  writeFileSync(join(copy, "deno.json"), config);
  const scoped = join(folder, "scoped.tgz");
  // Its sources are not in the package, and internals.md is for those who change it.
  const flags = ["--quiet", "--allow-dirty", "--no-source-maps", "--ignore=internals.md"];
  run(process.execPath, ["pack", ...flags, "--output", scoped], copy);
  run("tar", ["-xzf", scoped], folder);
  const manifest = join(folder, "package", "package.json");
  const { exports } = JSON.parse(readFileSync(manifest, "utf8"));
  writeFileSync(manifest, `${JSON.stringify(manifestWith(exports), undefined, 2)}\n`);
  mkdirSync(FOLDER, { recursive: true });
  run("tar", ["-czf", TARBALL, "package"], folder);
}

function run(program: string, args: string[], cwd: string): void {
  const { status, error } = spawnSync(program, args, { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed`, { cause: error });
}

/** The `package.json`. The entries are those that `deno pack` found. */
function manifestWith(exports: unknown) {
  const versions = versionsOf(engine.imports);
  const { [PEER]: peer, [OPTIONAL_PEER]: optionalPeer, ...dependencies } = versions;
  return {
    name: engine.name,
    version: engine.version,
    description: "An event store that is a library: exact appends, audits, replays and proofs",
    license: "UNLICENSED",
    type: "module",
    engines: { node: ">=24" },
    exports,
    dependencies,
    peerDependencies: { [PEER]: `^${peer}`, [OPTIONAL_PEER]: optionalPeer },
    peerDependenciesMeta: { [OPTIONAL_PEER]: { optional: true } },
  };
}

/** The version of each package that the import map pins: `npm:zod@4.6.7`, or `npm:/pg@8.23.1/` for its folder. */
function versionsOf(imports: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.values(imports).map((specifier) => {
      const [, name, version] = /^npm:\/?(@?[^@]+)@([^/]+)/.exec(specifier)!;
      return [name, version];
    }),
  );
}
