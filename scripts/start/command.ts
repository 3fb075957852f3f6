/**
 * `deno task start`: runs the service as one process, or, with `PROCESSES`, the supervisor of several. On Deno, the task
 * chooses the permissions by the same rule: the supervisor may run programs, and cannot open the store. It finds the file
 * of the store for all its processes, so that a symbolic link which moves later never lets them serve two stores.
 */

import { locateStore } from "eventstore-less/startup";
import { endWithParent } from "../../src/life_cycle/parent.ts";
import { runProgram } from "../../src/life_cycle/run_program.ts";
import { readServiceConfig } from "../../src/settings/config.ts";
import type { NoFlags, RunCommand } from "../cli/table_entry.ts";

export const command: RunCommand<NoFlags> = (parse) => runProgram(() => start(parse));

async function start(parse: () => unknown): Promise<number> {
  // It takes no arguments.
  parse();
  const settings = readServiceConfig();
  const { processes, supervisor } = settings;
  endWithParent(supervisor);
  const config = { ...settings, store: locateStore(settings.store) };
  if (processes !== undefined && supervisor === undefined) {
    const { supervise } = await import("./supervisor.ts");
    return await supervise(processes, config);
  }
  const { serve } = await import("../../src/life_cycle/serve.ts");
  await serve(config);
  return 0;
}
