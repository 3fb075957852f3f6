import { Worker, type WorkerOptions } from "node:worker_threads";

/** With its first use in each thread, Node says that `node:sqlite` is experimental. */
const EXEC_ARGV = ["--disable-warning=ExperimentalWarning"];

/** Starts a worker from the text of a module: the program is one file. */
export function startWorker(source: string, options: WorkerOptions = {}): Worker {
  const url = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  return new Worker(url, { execArgv: EXEC_ARGV, ...options });
}
