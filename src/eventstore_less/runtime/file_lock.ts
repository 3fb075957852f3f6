/** Locks of files, which programs on all runtimes see. */

import * as deno from "./deno/file_lock.ts";
import { IS_DENO } from "./is_deno.ts";
import * as node from "./node/file_lock.ts";

/**
 * Locks a file or a folder, which must exist, until the result is disposed of or the process ends (flock). Returns
 * `undefined` if another process has locked it. Programs on all runtimes see these locks.
 */
export const lockFile: (path: string) => Disposable | undefined = IS_DENO
  ? deno.lockFile
  : node.lockFile;
