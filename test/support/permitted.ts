/**
 * Whether the tests have all of these permissions. A plain `deno test` can then skip tests that need more:
 * `Deno.test({ name, ignore: !permitted("net"), fn })`. At the end of the file, it says which were missing.
 */
export function permitted(...names: Deno.PermissionName[]): boolean {
  const denied = names.filter((name) => Deno.permissions.querySync({ name }).state !== "granted");
  if (missing.size === 0 && denied.length > 0) addEventListener("unload", reportMissing);
  for (const name of denied) missing.add(name);
  return denied.length === 0;
}

/** A plain `deno test` takes every eighth of the cases of long tests. */
export const SAMPLE_STEP = Deno.permissions.querySync({ name: "read" }).state === "granted" ? 1 : 8;

/** Deno runs every test file with modules of its own, so these are the permissions that one file lacks. */
const missing = new Set<string>();

function reportMissing(): void {
  const flags = [...missing].sort().map((name) => `--allow-${name}`).join(", ");
  console.log(
    `Tests of this file were ignored because they need ${flags}; deno task test runs them`,
  );
}
