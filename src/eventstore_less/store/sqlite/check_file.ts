import type { Worker } from "node:worker_threads";
import { startWorker } from "../../runtime/start_worker.ts";
import type { StoreDamagedError } from "../store_errors.ts";
import { damageOf } from "./sqlite_errors.ts";
import { CHECK_STRUCTURE, expectSound } from "./sqlite_reader.ts";

/** The message of the worker: a row of the pragma, or an error of SQLite, of which a message keeps only the text. */
type WorkerMessage =
  | { kind: "result"; result: unknown }
  | { kind: "failure"; failure: { message: string; errcode?: number } };

/**
 * Checks the structure of the whole file of a store, next to those who read and write it. Resolves to the damage, if
 * there is one. Rejects if the check cannot be made. It is one statement, of 0.6 s for 300,000 records in memory, so it runs
 * in a worker. */
export async function checkFile(path: string): Promise<StoreDamagedError | undefined> {
  const file = JSON.stringify(path);
  const source = `
    import process from "node:process";
    import { parentPort } from "node:worker_threads";
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const postMessage = (message) => parentPort.postMessage(message);
    try {
      const database = new DatabaseSync(${file}, { readOnly: true, timeout: 10_000 });
      const [{ integrity_check: result }] = database.prepare("${CHECK_STRUCTURE}").all();
      database.close();
      postMessage({ kind: "result", result });
    } catch ({ message, errcode }) {
      postMessage({ kind: "failure", failure: { message, errcode } });
    }`;
  const worker = startWorker(source);
  try {
    const message = await messageOf(worker);
    if (message.kind === "failure") {
      throw Object.assign(new Error(message.failure.message), message.failure);
    }
    expectSound(message.result);
  } catch (error) {
    const damage = damageOf(error);
    if (damage === undefined) throw error;
    return damage;
  } finally {
    await worker.terminate();
  }
}

function messageOf(worker: Worker): Promise<WorkerMessage> {
  return new Promise((resolve, reject) => {
    worker.on("message", resolve);
    worker.on("error", reject);
  });
}
