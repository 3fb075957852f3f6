/**
 * Runs the tests that need a real `denokv`, which it installs first. If it cannot be installed, it prints one
 * line and exits with 0.
 *
 *     deno task test:denokv [FILE…]
 */

import { DENOKV_VARIABLE } from "../support/denokv_server.ts";
import { installDenokv, NoDenokvError } from "../support/install_denokv.ts";

const FOLDER = new URL("./", import.meta.url).pathname;

let program: string;
try {
  program = await installDenokv();
} catch (error) {
  if (!(error instanceof NoDenokvError)) throw error;
  console.log(`Left out the tests against denokv: ${error.message}`);
  Deno.exit(0);
}
const files = Deno.args.length > 0 ? Deno.args : [FOLDER];
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["test", "--allow-all", ...files],
  env: { [DENOKV_VARIABLE]: program },
}).spawn().status;
Deno.exit(code);
