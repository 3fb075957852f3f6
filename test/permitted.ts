/**
 * Whether the tests were given all of these permissions, so that what needs more can be left out of a
 * plain `deno test`: `Deno.test({ name, ignore: !permitted("net"), fn })`.
 */
export function permitted(...names: Deno.PermissionName[]): boolean {
  return names.every((name) => Deno.permissions.querySync({ name }).state === "granted");
}
