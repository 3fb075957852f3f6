/** The scripts of packages that the pages load. They are imported as texts, which needs no permission. */

/**
 * The bundle of Scalar, which its package for Fastify does not export. Scalar's own package depends on hundreds of
 * others. With gzip, the pages of later versions exceed 1 MiB. From 1.62.4 on, the bundle is not a file.
 */
export function loadScalar(): Promise<string> {
  const entryPoint = import.meta.resolve("@scalar/fastify-api-reference");
  return textOf(new URL("./js/standalone.js", entryPoint));
}

/** The bundle of `htm`, `preact` and its hooks, which defines `htmPreact`. */
export function loadHtmPreact(): Promise<string> {
  return textOf(new URL("../preact/standalone.umd.js", import.meta.resolve("htm")));
}

async function textOf({ href }: URL): Promise<string> {
  const module = await import(href, { with: { type: "text" } });
  return module.default;
}
