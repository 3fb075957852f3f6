import { taskOf } from "../support/programs.ts";
import { type Outcome, outcomeOf } from "../support/run_task.ts";
import { programAt } from "../support/store_server.ts";
import { ROOT } from "../support/with_project_copy.ts";

/** The redirections need it. */
export const BASH = programAt("/bin/bash");

/** Runs `deno task ARGS` with a shell redirection. `&3` is a pipe whose read end is closed. */
export function runRedirected(
  [name, ...args]: string[],
  redirection: "1>&3" | "2>&3" | "1>/dev/full",
  kvPath: string,
): Promise<Outcome> {
  // `wait` ensures that the reader has exited, and so closed the pipe, before the task writes.
  const script = `exec 3> >(true); wait $!; exec "$@" ${redirection} 3>&-`;
  const process = new Deno.Command("bash", {
    args: ["-c", script, "bash", ...taskOf(name), ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", KV_PATH: kvPath },
    stdin: "null",
  });
  return outcomeOf(process);
}
