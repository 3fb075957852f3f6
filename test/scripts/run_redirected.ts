import type { Outcome } from "../support/run_task.ts";
import { isInstalled } from "../support/store_server.ts";

const ROOT = new URL("../../", import.meta.url);

/** Whether bash, which the redirections need, is installed. */
export const hasBash = () => isInstalled("/bin/bash");

/** Runs `deno task ARGS` with a shell redirection. `&3` is a pipe whose read end is closed. */
export async function runRedirected(
  args: string[],
  redirection: "1>&3" | "2>&3" | "1>/dev/full",
  kvPath: string,
): Promise<Outcome> {
  // `wait` ensures that the reader has exited, and so closed the pipe, before the task writes.
  const script = `exec 3> >(true); wait $!; exec "$@" ${redirection} 3>&-`;
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", script, "bash", Deno.execPath(), "task", "--quiet", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", KV_PATH: kvPath },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}
