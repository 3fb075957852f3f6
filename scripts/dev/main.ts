/**
 * Runs the service for development on the store in `.data/`, and starts it again after every change.
 *
 *     deno task dev
 */

import { readDevConfig } from "../../src/settings/config.ts";
import { permissionFlags } from "../launch/permission_flags.ts";
import { EXIT, runCommand } from "../cli/run_command.ts";
import { COMMANDS } from "../launch/commands.ts";
import { sendSignal } from "../launch/send_signal.ts";
import { SourceWatcher } from "./source_watcher.ts";
import { TypeCheck } from "./type_check.ts";

const SERVER = "scripts/dev/dev_server.ts";
const SOURCES = ["events", "scripts", "src"];

/** Time, in milliseconds, in which the service ends after a signal, unless it hangs. */
const END_LIMIT_MS = 5_000;

await runCommand(COMMANDS.dev, {
  async run() {
    readDevConfig();
    return await serveUntilStopped(await permissionFlags("dev", []));
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
