import process from "node:process";

/** Deno runs one process of the service as `deno task start` does. */
const ARGS = ["run", "-q", "--no-prompt", "-P=service", "scripts/main.ts", "start"];

/** The program and the arguments that run one process of the service. */
export function serviceCommand(): [program: string, args: string[]] {
  return [process.execPath, ARGS];
}
