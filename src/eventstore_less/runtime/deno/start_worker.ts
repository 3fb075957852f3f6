import { Worker, type WorkerOptions } from "node:worker_threads";

/** Starts a worker from the text of a module. A worker from a file would need the permission to read the file. */
export function startWorker(source: string, options?: WorkerOptions): Worker {
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), options);
}
