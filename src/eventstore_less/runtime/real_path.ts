import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

/**
 * The path to which a path leads, without symbolic links, so that a link that moves later changes nothing. A path on
 * which no link lies stays as it is, also a relative one. The file may be missing. Throws if a link leads to nothing:
 * mostly, a volume is not mounted.
 */
export function realPath(path: string): string {
  const full = resolve(path);
  const real = realOf(full);
  return real === full ? path : real;
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if ((error as { code?: string }).code !== "ENOENT") throw error;
  }
  const real = join(realOf(dirname(path)), basename(path));
  const target = targetOf(real);
  if (target === undefined) return real;
  const reason = `${path} is a symbolic link to ${target}, which does not exist`;
  throw new Error(`${reason}; mount its volume, or name ${target} itself`);
}

/** Where a symbolic link leads; `undefined` if the path is not one. */
function targetOf(path: string): string | undefined {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return undefined;
  }
}
