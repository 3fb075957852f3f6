/** `deno task build` replaces it by a text. */
declare const BUILD_COMMIT: string | undefined;

/** The commit of this program; `undefined` if it was not built in a checkout of Git. */
export function buildCommit(): string | undefined {
  return BUILD_COMMIT;
}
