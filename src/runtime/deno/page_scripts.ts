/** The scripts of packages that the pages load. They are imported as texts, which needs no permission. */

/**
 * The bundle of Scalar, which its package for Fastify does not export. Scalar's own package depends on hundreds of
 * others. With gzip, the pages of later versions exceed 1 MiB. From 1.62.4 on, the bundle is not a file.
 */
export function loadScalar(): Promise<string> {
  const entryPoint = import.meta.resolve("@scalar/fastify-api-reference");
  return textOf(new URL("./js/standalone.js", entryPoint));
}

const WINDOW = new URL("../../window/main.tsx", import.meta.url);

/** The same bundle, made by `deno task bundle` where the program runs without a network or without a bundler. */
const MADE_BEFORE = new URL("../../../.build/window.js", import.meta.url);

/**
 * Bundles the script of the window, in some hundredths of a second. On the first use, Deno fetches the bundler, esbuild, in
 * the version that it pins. Rejects if it cannot.
 */
export async function loadWindow(): Promise<string> {
  try {
    return await bundle(WINDOW);
  } catch (error) {
    const madeBefore = await textOf(MADE_BEFORE).catch(() => undefined);
    if (madeBefore === undefined) throw error;
    return madeBefore;
  }
}

async function bundle({ href }: URL): Promise<string> {
  const { outputFiles, errors } = await Deno.bundle({
    entrypoints: [href],
    format: "esm",
    minify: true,
    platform: "browser",
    write: false,
  });
  const [file] = outputFiles ?? [];
  if (file === undefined) throw new Error(errors.map(({ text }) => text).join("; "));
  return file.text();
}

async function textOf({ href }: URL): Promise<string> {
  const module = await import(href, { with: { type: "text" } });
  return module.default;
}
