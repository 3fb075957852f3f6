/**
 * Runs the service for development on the store in `.data/`, and reloads it on every change.
 *
 *     deno task dev
 */

import { readServiceConfig } from "../src/config.ts";
import { permissionFlags } from "./cli/permission_flags.ts";
import { EXIT, runTool, UsageError } from "./cli/run_tool.ts";

const SERVER = "scripts/cli/dev_server.ts";

const HELP = `
Serves for development: starts again on every change of the source, sees to it that there is a
development key, and prints the address, the key and a curl line that can be pasted.

  deno task dev

PORT (default 8000), HOST (default 0.0.0.0) and KV_PATH (default .data/pets.sqlite3) are settings of the
environment, as for deno task start. Ctrl-C ends it.
Exit codes: 0 told to end, 2 the command could not run.
`;

await runTool({
  help: HELP,
  options: {},
  async run(_values, positionals) {
    if (positionals.length > 0) {
      throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[0])}`);
    }
    // Report bad settings here: the watcher would wait for a change of a file, which cannot correct them.
    readServiceConfig();
    // A separate process, because the watcher keeps running even if the watched program exits with an error.
    const flags = ["--watch", ...await permissionFlags(SERVER, [])];
    const watcher = new Deno.Command(Deno.execPath(), { args: ["run", ...flags, SERVER] });
    const process = watcher.spawn();
    // The terminal sends Ctrl-C to the watcher too; this process only has to wait for the watcher to end.
    Deno.addSignalListener("SIGINT", () => {});
    // SIGTERM would end only the service, and the watcher would wait for a change.
    Deno.addSignalListener("SIGTERM", () => process.kill("SIGINT"));
    const { success } = await process.status;
    return success ? EXIT.done : EXIT.couldNotRun;
  },
});
