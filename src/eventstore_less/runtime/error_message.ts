/** The messages of errors. */

import * as deno from "./deno/error_message.ts";
import { IS_DENO } from "./is_deno.ts";
import * as node from "./node/error_message.ts";

export const errorMessage: typeof deno.errorMessage = IS_DENO
  ? deno.errorMessage
  : node.errorMessage;
