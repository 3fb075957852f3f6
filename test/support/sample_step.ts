/** A plain `deno test` takes every eighth of the cases of long tests. */
export const SAMPLE_STEP = Deno.permissions.querySync({ name: "read" }).state === "granted" ? 1 : 8;
