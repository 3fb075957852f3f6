import { type Logger, reasonOf } from "../runtime/logger.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";

/** Time between two probes of a full disk, in milliseconds. */
const PROBE_INTERVAL_MS = 1_000;

/** Number of probes between two reports. */
const PROBES_PER_REPORT = 10;

/**
 * Reports a full disk, and probes it, until it has space and this is reported. It must be probed, because an
 * instance that is not ready may get no additions. `fault` is the reason while the disk is full. `probe` makes a
 * small commit.
 */
export async function watchFullDisk(
  { runtime, report }: { runtime: Runtime; report: Logger },
  fault: () => Error | undefined,
  probe: () => Promise<void>,
): Promise<void> {
  for (let reason; (reason = fault()) !== undefined;) {
    report("error", "storage_full", {
      reason: reasonOf(reason),
      remedy: "Free space on the disk of the store; the service then continues by itself",
    });
    for (let probes = 0; probes < PROBES_PER_REPORT; probes++) {
      await sleep(runtime, PROBE_INTERVAL_MS);
      // A probe that fails for another reason says nothing about the disk.
      if (fault() !== undefined) await probe().catch(() => {});
    }
  }
  report("info", "storage_available");
}
