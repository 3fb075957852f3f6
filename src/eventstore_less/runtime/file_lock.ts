/** Locks of files, which programs on all runtimes see. */

import * as deno from "./deno/file_lock.ts";
import { IS_DENO } from "./is_deno.ts";
import * as node from "./node/file_lock.ts";

export const lockFile: typeof deno.lockFile = IS_DENO ? deno.lockFile : node.lockFile;
