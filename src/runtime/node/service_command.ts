import process from "node:process";

/** The program and the arguments that run one process of the service. */
export function serviceCommand(): [program: string, args: string[]] {
  return [process.execPath, [process.argv[1], "start"]];
}
