/** The scripts of packages that the pages load. The build puts their texts into the program. */

/** The bundle of Scalar. */
export async function loadScalar(): Promise<string> {
  const { default: text } = await import(
    "packed:@scalar/fastify-api-reference/dist/js/standalone.js"
  );
  return text;
}

/** The bundle of the window. */
export async function loadWindow(): Promise<string> {
  const { default: text } = await import("bundled:src/window/main.tsx");
  return text;
}
