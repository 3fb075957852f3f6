/** Workers from the text of a module. */

import * as deno from "./deno/start_worker.ts";
import { IS_DENO } from "./is_deno.ts";
import * as node from "./node/start_worker.ts";

export const startWorker: typeof deno.startWorker = IS_DENO ? deno.startWorker : node.startWorker;
