import { patientStore } from "./open_to_read.ts";
import { rebuild, type ReplayPhase, type ReplayReport } from "./rebuild.ts";
import { type Progress, stepOf, type ToolOptions } from "./tool_options.ts";
import type { ToolStore } from "./tool_store.ts";

export interface ReplayOptions extends ToolOptions<Progress<ReplayPhase>> {
  /**
   * How long the old generation is kept after the switch, in milliseconds, for requests that still read it. By default
   * 10 seconds, longer than any request may.
   */
  graceMs?: number;
}

/**
 * Rebuilds all records from the log, while others append and read. The log must be sound, or the store keeps the records
 * that it has: then it rejects with `UnsoundError` or `LogDamagedError`. Rejects with `RefusedError`
 * (`replay_overtaken`) if another replay was started. An aborted or killed one leaves a store that serves complete
 * records; the next replay begins again.
 */
export async function replay(
  store: ToolStore,
  { graceMs, ...options }: ReplayOptions = {},
): Promise<ReplayReport> {
  const { application, runtime } = store;
  const step = stepOf(options);
  return await rebuild({ application, runtime, store: patientStore(store) }, { graceMs, step });
}
