/** The service, for production: `deno task start`. Settings come from the environment; see `config.ts`. */

import { readConfig } from "./config.ts";
import { reasonOf } from "./report.ts";
import { serve } from "./serve.ts";

if (import.meta.main) {
  try {
    await serve(readConfig());
  } catch (error) {
    console.error(`error: ${reasonOf(error)}`);
    Deno.exit(1);
  }
}
