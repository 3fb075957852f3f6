/**
 * Whether the tests have all of these permissions. A plain `deno test` can then skip tests that need more:
 * `Deno.test({ name, ignore: !permitted("net"), fn })`.
 */
export function permitted(...names: Deno.PermissionName[]): boolean {
  return names.every((name) => Deno.permissions.querySync({ name }).state === "granted");
}
