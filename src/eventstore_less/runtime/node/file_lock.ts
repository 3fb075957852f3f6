import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";

/** The exit code of `flock` if another process has locked the file. */
const LOCKED = 1;

/**
 * Locks a file or a folder, which must exist, until the result is disposed of or the process ends (flock). Returns
 * `undefined` if another process has locked it. Node has no such call, but a lock is one of the open file, which the
 * program `flock` inherits: the lock stays when that program has ended.
 */
export function lockFile(path: string): Disposable | undefined {
  const file = openSync(path, "r");
  const stdio = ["ignore", "ignore", "ignore", file] as const;
  const { error, status } = spawnSync("flock", ["-x", "-n", "3"], { stdio: [...stdio] });
  if (status === 0) return { [Symbol.dispose]: () => closeSync(file) };
  closeSync(file);
  if (status === LOCKED) return undefined;
  const reason = error === undefined ? `flock exits with ${status}` : "flock is not installed";
  throw new Error(`Cannot lock ${path}: the program ${reason}; it is in the package util-linux`);
}
