import type { Stats } from "node:fs";
import { pid } from "node:process";
import type { Logger } from "../../runtime/logger.ts";
import { type Runtime, sleep } from "../../runtime/runtime.ts";
import { statOf } from "./store_file.ts";
import { type StoreError, StoreRefusedError } from "../store_errors.ts";

/** Time between two looks at the files of a store, in milliseconds. */
const INTERVAL_MS = 1_000;

/**
 * Watches whether the path of an open store still leads to the files that SQLite has open: the database and its
 * write-ahead log. If not, what is stored vanishes with the process, and `onChange` is called with the fault; with
 * `undefined` when the files are back. Resolves to a function that ends the watch.
 */
export async function watchFile(
  path: string,
  runtime: Runtime,
  report: Logger,
  onChange: (fault: StoreError | undefined) => void,
): Promise<() => void> {
  const paths = [path, `${path}-wal`];
  const opened = await Promise.all(paths.map(statOf));
  let isLost = false;
  let isStopped = false;
  const look = async () => {
    const found = await Promise.all(paths.map(statOf));
    if (isStopped) return;
    const lost = opened.findIndex((file, index) =>
      file !== undefined && (file.dev !== found[index]?.dev || file.ino !== found[index]?.ino)
    );
    if (isLost === lost >= 0) return;
    isLost = !isLost;
    if (!isLost) {
      report("info", "store_file_found", { store: path });
      return onChange(undefined);
    }
    report("error", "store_file_lost", {
      store: path,
      reason: `${paths[lost]} was ${found[lost] === undefined ? "deleted or moved" : "replaced"}`,
      remedy: REMEDY,
      saveCommand: saveCommand(opened),
    });
    const message = "The store's file was deleted, moved or replaced, so nothing was stored";
    onChange(new StoreRefusedError(message, { isLogged: true }));
  };
  const watch = async () => {
    while (!isStopped) {
      await sleep(runtime, INTERVAL_MS);
      // A file that cannot be looked at may still be there.
      await look().catch(() => {});
    }
  };
  watch();
  return () => isStopped = true;
}

const REMEDY = "If the file was moved, move it back. Otherwise, before the service stops, run " +
  "saveCommand as its user and in its folder. Check the copy: KV_PATH=saved.sqlite3 deno task audit. " +
  "If it is sound, stop the service, and start it with KV_PATH=saved.sqlite3";

/** A command for Linux that copies both files as of one moment, by this process's descriptors. Deno may not read /proc. */
function saveCommand([database, log]: (Stats | undefined)[]): string {
  const copy = (info: Stats | undefined, to: string) =>
    `cp $(find -L /proc/${pid}/fd -inum ${info?.ino} | head -n 1) ${to}`;
  const copies = [copy(database, "saved.sqlite3"), copy(log, "saved.sqlite3-wal")];
  return [`kill -STOP ${pid}`, ...copies, `kill -CONT ${pid}`].join("; ");
}
