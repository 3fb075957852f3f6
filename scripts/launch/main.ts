/**
 * Runs a program of this project with only the permissions that its settings and arguments need, and exits
 * with its exit code. A launcher is necessary because Deno's tasks cannot compute permissions.
 *
 *     deno run -q -P=launcher scripts/launch/main.ts [FLAGS OF DENO RUN] MODULE [ARGUMENTS]
 */

import { exitCodeOf } from "../../src/life_cycle/exit.ts";
import { permissionFlags } from "./permission_flags.ts";
import { telemetryVariables } from "./telemetry_variables.ts";
import { sendSignal } from "./send_signal.ts";

const moduleIndex = Deno.args.findIndex((argument) => !argument.startsWith("-"));
const flags = Deno.args.slice(0, moduleIndex);
const [module, ...args] = Deno.args.slice(moduleIndex);

const permissions = await permissionFlags(module, args);

let program: Deno.ChildProcess | undefined = undefined;

// The program decides how to handle a signal; this process must run as long as the program.
for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => {
    if (program === undefined) Deno.exit(1);
    sendSignal(program, signal);
  });
}

program = new Deno.Command(Deno.execPath(), {
  args: ["run", ...flags, ...permissions, module, ...args],
  env: telemetryVariables(module, Deno.env.toObject()),
}).spawn();

Deno.exit(exitCodeOf(await program.status));
