/**
 * Locks a file or a folder, which must exist, until the result is disposed of or the process ends (flock). Returns
 * `undefined` if another process has locked it. Programs on all runtimes see these locks.
 */
export function lockFile(path: string): Disposable | undefined {
  const file = Deno.openSync(path);
  if (!file.tryLockSync(true)) {
    file.close();
    return undefined;
  }
  return {
    [Symbol.dispose]() {
      // A process that is just being started may have a copy of the open file, which would keep the lock.
      file.unlockSync();
      file.close();
    },
  };
}
