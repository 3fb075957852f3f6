/**
 * `deno task build`: writes `.build/animal-store.mjs`, the service and its commands for Node in one file. The packages are
 * those that deno.lock pins; esbuild is pinned by the lock file next to this module.
 */

import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import process from "node:process";
import { brotliCompressSync } from "node:zlib";
import { buildCommit } from "this-runtime/build_commit.ts";
import { NAME } from "../../src/settings/version.ts";
import config from "../../deno.json" with { type: "json" };

const ROOT = new URL("../../", import.meta.url).pathname;
const FOLDER = `${ROOT}.build`;
const PACKAGES = `${FOLDER}/packages`;
const PROGRAM = `${FOLDER}/${NAME.toLowerCase().replace(" ", "-")}.mjs`;

const ESBUILD = "npm:esbuild@0.28.2";

/** Packages in CommonJS load the modules of Node by `require`. The shebang lets the file run by its name. */
const BANNER = `#!/usr/bin/env node
import { createRequire as createRequireOfNode } from "node:module";
const require = createRequireOfNode(import.meta.url);`;

/** An import of a module that an old Node lacks would fail before the program can name the oldest version that it needs. */
const SQLITE =
  `const { DatabaseSync, StatementSync } = process.getBuiltinModule("node:sqlite") ?? {};
export { DatabaseSync, StatementSync };`;

/** The parts of esbuild's interface that are used. */
interface Resolving {
  path: string;
  kind: string;
  pluginData?: unknown;
}
interface Loading {
  path: string;
  with: Record<string, string>;
}
interface Build {
  onResolve(options: { filter: RegExp }, resolve: (args: Resolving) => unknown): void;
  onLoad(options: { filter: RegExp; namespace?: string }, load: (args: Loading) => unknown): void;
  resolve(path: string, options: { kind: string; resolveDir: string }): Promise<unknown>;
}

mkdirSync(PACKAGES, { recursive: true });
installPackages();
const esbuild = await import(ESBUILD);
await esbuild.build({
  absWorkingDir: ROOT,
  entryPoints: ["scripts/main.ts"],
  outfile: PROGRAM,
  bundle: true,
  platform: "node",
  format: "esm",
  target: "node20",
  banner: { js: BANNER },
  define: { BUILD_COMMIT: commitAsCode() },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: "none",
  external: ["pg-native", "@deno/kv"],
  logLevel: "warning",
  plugins: [{ name: "sources", setup }],
});
await esbuild.stop();
const size = (statSync(PROGRAM).size / 1e6).toFixed(1);
console.error(`Wrote ${PROGRAM.slice(ROOT.length)}, ${size} MB`);

/** The commit of the sources as an expression. It has a mark if they differ from the commit. */
function commitAsCode(): string {
  const commit = buildCommit();
  if (commit === undefined) return "undefined";
  const args = ["status", "--porcelain", "--untracked-files=no"];
  const { stdout } = spawnSync("git", args, { cwd: ROOT, encoding: "utf8" });
  const mark = stdout ? "-changed" : "";
  return JSON.stringify(commit + mark);
}

/** Puts the packages of deno.lock into a folder as Node and esbuild expect them. */
function installPackages(): void {
  const members = config.workspace.map((member) => `${member}/deno.json`);
  for (const file of ["deno.json", "deno.lock", ...members]) {
    const target = `${PACKAGES}/${file}`;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(ROOT + file, target);
  }
  const args = ["install", "--quiet", "--frozen", "--node-modules-dir=auto"];
  const { status } = spawnSync(process.execPath, args, { cwd: PACKAGES, stdio: "inherit" });
  if (status !== 0) throw new Error("The packages of deno.lock could not be installed");
}

function setup(build: Build): void {
  const imports: Record<string, string> = { ...config.imports };
  for (const member of config.workspace) {
    const { name, exports, imports: packages } = JSON.parse(
      readFileSync(`${ROOT}${member}/deno.json`, "utf8"),
    );
    Object.assign(imports, packages);
    // The window has no doors.
    for (const [door, path] of Object.entries<string>(exports ?? {})) {
      imports[name + door.slice(".".length)] = member + path.slice(".".length);
    }
  }
  // The longest names come first, because a name that ends in a slash matches all that begin with it.
  const names = Object.keys(imports).sort((one, other) => other.length - one.length);
  build.onResolve({ filter: /^[^./]/ }, ({ path, kind, pluginData }) => {
    if (path === "node:sqlite") return { path, namespace: "sqlite" };
    if (path.startsWith("packed:")) {
      return {
        path: `${PACKAGES}/node_modules/${path.slice("packed:".length)}`,
        namespace: "packed",
      };
    }
    if (path.startsWith("bundled:")) {
      return { path: path.slice("bundled:".length), namespace: "bundled" };
    }
    const name = names.find((it) => path === it || path.startsWith(it.replace(/\/?$/, "/")));
    if (name === undefined || pluginData === PACKAGES) return undefined;
    const rest = path.slice(name.length);
    const target = name === "this-runtime/" ? "./src/runtime/node/" : imports[name];
    if (target.startsWith("./")) return { path: ROOT + target.slice("./".length) + rest };
    // npm:/pg@8.23.1/ is the folder of a package.
    const specifier = target.replace(/^npm:\/?(@?[^@]+)@[^/]+/, "$1") + rest;
    return build.resolve(specifier, { kind, resolveDir: PACKAGES, pluginData: PACKAGES } as never);
  });
  build.onLoad({ filter: /.*/, namespace: "sqlite" }, () => ({ contents: SQLITE }));
  build.onLoad({ filter: /.*/, namespace: "packed" }, ({ path }) => ({
    contents: packed(readFileSync(path)),
  }));
  build.onLoad({ filter: /.*/, namespace: "bundled" }, async ({ path }) => ({
    contents: packed(await bundleForBrowsers(path.split("+"))),
  }));
  build.onLoad({ filter: /.*/, namespace: "file" }, ({ path, with: { type } }) => {
    return type === "text" ? { contents: readFileSync(path, "utf8"), loader: "text" } : undefined;
  });
}

/** The scripts of a page, as `loadWindow()` makes them on Deno: JSON with their texts by their names. */
async function bundleForBrowsers(paths: readonly string[]): Promise<string> {
  const { outputFiles } = await esbuild.build({
    entryPoints: paths.map((path) => ROOT + path),
    // The scripts are not written there.
    outdir: "window",
    splitting: true,
    write: false,
    bundle: true,
    platform: "browser",
    format: "esm",
    minify: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
    plugins: [{ name: "sources", setup }],
  });
  const scripts = outputFiles.map((file: { path: string; text: string }) => [
    basename(file.path),
    file.text,
  ]);
  return JSON.stringify(Object.fromEntries(scripts));
}

/** A module whose default is a large text, which it decompresses when it is loaded. */
function packed(text: Uint8Array | string): string {
  const bytes = brotliCompressSync(text).toString("base64");
  return `import { brotliDecompressSync } from "node:zlib";
export default brotliDecompressSync(Buffer.from("${bytes}", "base64")).toString();`;
}
