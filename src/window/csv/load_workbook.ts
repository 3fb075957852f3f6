/** Reads a workbook in a worker, which a large file cannot make the page wait for. */

import type { Workbook } from "./read_workbook.ts";

/** What the worker gets. */
export interface WorkbookRequest {
  bytes: Uint8Array<ArrayBuffer>;
  sheet: number | undefined;
}

/** What the worker returns. */
export type WorkbookReply = { kind: "read"; workbook: Workbook } | {
  kind: "failed";
  fault: string;
};

/** 100,000 rows take some seconds on a slow computer. */
const LONGEST_MS = 60_000;

const TOO_SLOW =
  "Reading the workbook takes too long. Save the sheet with the animals as CSV, and choose that file";
const NOT_STARTED =
  "The page could not read the workbook. Try again, or save the sheet with the animals as CSV";

/** Rejects with an error for people, or if the signal is aborted. */
export async function loadWorkbook(
  request: WorkbookRequest,
  signal: AbortSignal,
): Promise<Workbook> {
  const { promise, resolve, reject } = Promise.withResolvers<Workbook>();
  // The bundler puts this module and the worker into one folder.
  const worker = new Worker(new URL("./workbook_worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<WorkbookReply>) => {
    if (data.kind === "read") resolve(data.workbook);
    else reject(new Error(data.fault));
  };
  // It is not loaded, or has no memory left.
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(NOT_STARTED));
  };
  const timer = setTimeout(() => reject(new Error(TOO_SLOW)), LONGEST_MS);
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort);
  worker.postMessage(request);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    worker.terminate();
  }
}
