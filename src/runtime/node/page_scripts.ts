/** The scripts of packages that the pages load. The build puts their texts into the program. */

/** The bundle of Scalar. */
export async function loadScalar(): Promise<string> {
  const { default: text } = await import(
    "packed:@scalar/fastify-api-reference/dist/js/standalone.js"
  );
  return text;
}

/** The scripts of the window: their texts by their names. */
export async function loadWindow(): Promise<ReadonlyMap<string, string>> {
  const { default: json } = await import(
    "bundled:src/window/main.tsx+src/window/workbook_worker.ts"
  );
  return new Map(Object.entries(JSON.parse(json)));
}
