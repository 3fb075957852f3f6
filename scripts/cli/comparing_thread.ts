import type { PackedRecords } from "../../src/maintenance/packed_records.ts";

/** A request to the thread. Its result contains a reason if the comparison failed. */
export interface ComparisonRequest {
  id: number;
  expected: PackedRecords[];
}
export type ComparisonResult = { id: number; matchesStore: boolean } | {
  id: number;
  reason: string;
};

/** Compares records with the configured store on a second thread, while this thread reads the log. */
export class ComparingThread {
  #worker = new Worker(new URL("./comparing_worker.ts", import.meta.url), { type: "module" });
  #asked = new Map<number, PromiseWithResolvers<boolean>>();
  #lastId = 0;
  #error: Error | undefined;

  constructor() {
    this.#worker.onmessage = ({ data }: MessageEvent<ComparisonResult>) => {
      const asked = this.#asked.get(data.id)!;
      this.#asked.delete(data.id);
      if ("matchesStore" in data) asked.resolve(data.matchesStore);
      else asked.reject(new Error(data.reason));
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#error = new Error(`The comparing thread failed: ${event.message}`);
      for (const { reject } of this.#asked.values()) reject(this.#error);
    };
  }

  /**
   * Transfers `expected` to the thread: the caller cannot use it afterwards. Rejects if the store cannot be
   * read.
   */
  readonly matchesStore = (expected: PackedRecords[]): Promise<boolean> => {
    if (this.#error !== undefined) return Promise.reject(this.#error);
    const asked = Promise.withResolvers<boolean>();
    const request: ComparisonRequest = { id: ++this.#lastId, expected };
    this.#asked.set(request.id, asked);
    this.#worker.postMessage(
      request,
      expected.flatMap(({ ids, values, ends }) => [ids.buffer, values.buffer, ends.buffer]),
    );
    return asked.promise;
  };

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}
