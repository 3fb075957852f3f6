/** The words before the name of a command. */

import * as deno from "./deno/command_prefix.ts";
import { IS_DENO } from "./is_deno.ts";
import * as node from "./node/command_prefix.ts";

export const commandPrefix: typeof deno.commandPrefix = IS_DENO
  ? deno.commandPrefix
  : node.commandPrefix;
