/** The scripts of packages that the pages load. They are imported as texts, which needs no permission. */

/**
 * The bundle of Scalar, which its package for Fastify does not export. Scalar's own package depends on hundreds of
 * others. With gzip, the pages of later versions exceed 1 MiB. From 1.62.4 on, the bundle is not a file.
 */
export function loadScalar(): Promise<string> {
  const entryPoint = import.meta.resolve("@scalar/fastify-api-reference");
  return textOf(new URL("./js/standalone.js", entryPoint));
}

/** The sources of the scripts that are no part of others: that of the page, and its worker. */
const WINDOW = ["main.tsx", "workbook_worker.ts"].map((name) =>
  new URL(`../../window/${name}`, import.meta.url).href
);

/** The same scripts, made by `deno task bundle` where the program runs without a network or without a bundler. */
const MADE_BEFORE = new URL("../../../.build/window/", import.meta.url);

/** The script of the window that imports the others. The bundler names it after its source. */
const WINDOW_ENTRY = "main.js";

/**
 * Bundles the scripts of the window, in some hundredths of a second. On the first use, Deno fetches the bundler, esbuild, in
 * the version that it pins. Resolves to their texts by their names. Rejects if it cannot.
 */
export async function loadWindow(): Promise<ReadonlyMap<string, string>> {
  try {
    return await bundle();
  } catch (error) {
    const madeBefore = await loadMadeBefore().catch(() => undefined);
    if (madeBefore === undefined) throw error;
    return madeBefore;
  }
}

async function bundle(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles = [], errors } = await Deno.bundle({
    entrypoints: WINDOW,
    // The scripts are not written there.
    outputDir: "window",
    codeSplitting: true,
    format: "esm",
    minify: true,
    platform: "browser",
    write: false,
  });
  if (outputFiles.length === 0) throw new Error(errors.map(({ text }) => text).join("; "));
  return new Map(outputFiles.map((file) => [file.path.replace(/^.*[/\\]/, ""), file.text()]));
}

/** Loads the entry, and then each script that another one names. */
async function loadMadeBefore(): Promise<ReadonlyMap<string, string>> {
  const scripts = new Map<string, string>();
  const names = new Set([WINDOW_ENTRY]);
  // The set grows meanwhile.
  for (const name of names) {
    const text = await textOf(new URL(name, MADE_BEFORE));
    scripts.set(name, text);
    for (const [, imported] of text.matchAll(/"\.\/([\w-]+\.js)"/g)) names.add(imported);
  }
  return scripts;
}

async function textOf({ href }: URL): Promise<string> {
  const module = await import(href, { with: { type: "text" } });
  return module.default;
}
