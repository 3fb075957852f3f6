/**
 * Runs the service for development on the store in `.data/`, and starts it again after every change.
 *
 *     deno task dev
 */

import { readDevConfig } from "../../src/settings/config.ts";
import { serviceVariables } from "../../src/settings/variables.ts";
import { permissionFlags } from "../launch/permission_flags.ts";
import { EXIT, runCommand, UsageError } from "../cli/run_command.ts";
import { sendSignal } from "../launch/send_signal.ts";
import { SourceWatcher } from "./source_watcher.ts";
import { TypeCheck } from "./type_check.ts";

const SERVER = "scripts/dev/dev_server.ts";
const SOURCES = ["events", "scripts", "src"];

/** Time, in milliseconds, in which the service ends after a signal, unless it hangs. */
const END_LIMIT_MS = 5_000;

const HELP = `
Serves for development: starts again after every change of the source, reports type errors, issues a
development key if the store has none, and prints the address, the key and a curl line that can be pasted.

  deno task dev

It listens on 127.0.0.1 unless HOST is set. The key is kept in a file next to the store, KV_PATH.dev_key, and
stays the same until that file is deleted or the key is revoked. Ctrl-C ends the service.

${serviceVariables()}

Exit codes: 0 told to end, 2 the command could not run.
`;

await runCommand({
  help: HELP,
  options: {},
  async run(_values, positionals) {
    if (positionals.length > 0) {
      throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[0])}`);
    }
    readDevConfig();
    return await serveUntilStopped(await permissionFlags(SERVER, []));
  },
});

async function serveUntilStopped(flags: string[]): Promise<number> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<"stopped">();
  for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"] as const) {
    Deno.addSignalListener(signal, () => stop("stopped"));
  }
  let isStopped = false;
  stopped.then(() => isStopped = true);
  const sources = new SourceWatcher(SOURCES);
  const typeCheck = new TypeCheck(SOURCES);
  try {
    while (!isStopped) {
      const server = new Deno.Command(Deno.execPath(), { args: ["run", ...flags, SERVER] }).spawn();
      typeCheck.start();
      const event = await Promise.race([stopped, sources.nextChange(), server.status]);
      if (typeof event === "object") {
        if (event.success) return EXIT.done;
        if (event.code === EXIT.couldNotRun) return EXIT.couldNotRun;
        console.error("The service has ended; it starts again after the next change");
        await Promise.race([stopped, sources.nextChange()]);
      }
      await end(server);
      if (!isStopped) console.error("The source has changed; the service starts again");
    }
    return EXIT.done;
  } finally {
    typeCheck.stop();
  }
}

async function end(server: Deno.ChildProcess): Promise<void> {
  sendSignal(server, "SIGTERM");
  const timer = setTimeout(() => sendSignal(server, "SIGKILL"), END_LIMIT_MS);
  await server.status;
  clearTimeout(timer);
}
