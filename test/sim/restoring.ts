import type { Store } from "../../src/store/store.ts";
import type { SimulatedStore } from "./connection.ts";
import type { Node } from "./node.ts";
import { ModelStore } from "./model_store.ts";
import { CALM, drawFaultProfile, LATE_MS } from "./fault_profile.ts";
import { auditStore, type Crowd } from "./workload.ts";

/** Number of runs of a restore under faults, most of them killed, before the faults stop. */
const RUNS_IN_WEATHER = 4;

const CHUNK_BYTES = 1_000;

/**
 * Restores an export into another store despite faults, and compares the result with the log of the first
 * store.
 */
export async function restoreElsewhere(crowd: Crowd, lines: string[]): Promise<void> {
  const { fleet, code } = crowd;
  const { world, oracle, violations } = fleet;
  const random = world.random.fork();
  const model = new ModelStore({ now: () => world.now, expiryLagMs: () => 0 });
  const site: SimulatedStore = {
    world,
    model,
    faultProfile: drawFaultProfile(random),
    away: { until: -Infinity, refuses: true },
    committing: undefined,
  };
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  async function* source() {
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      yield await Promise.resolve(bytes.subarray(start, start + CHUNK_BYTES));
    }
  }
  const restoring = async (parts: { store: Store; runtime: Node }) => {
    await code.restore(parts, source, await code.verifyExport(source));
  };
  for (let run = 1;; run++) {
    if (run === RUNS_IN_WEATHER + 1) {
      site.faultProfile = CALM;
      // Commits of killed runs that are still under way arrive within this time.
      await world.sleep(LATE_MS.high + 1_000);
    }
    const circumstances = run > RUNS_IN_WEATHER
      ? { site }
      : { site, diesAfterMs: random.between(0, 100) };
    const { outcome, reason } = await fleet.retryingCommand("restore", restoring, circumstances);
    if (isHead(model)) break;
    if (outcome === "done") return violations.add("a restore says that it is done, and is not");
    if (run > RUNS_IN_WEATHER) return violations.add(`the restore cannot be done: ${reason}`);
  }
  for (const [index, line] of lines.entries()) {
    const stored = model.read(["log", index + 1])?.value;
    if (!(stored instanceof Uint8Array) || new TextDecoder().decode(stored) !== line) {
      return violations.add(`line ${index + 1} was not restored`);
    }
  }
  oracle.checkGeneration(JSON.parse(model.read(["head"])!.value as string).generation, model);
  await auditStore(crowd, { isRequired: true, site });
}

/** Whether the value at the head's key is a head, not the marker of a restore. */
function isHead(model: ModelStore): boolean {
  const entry = model.read(["head"]);
  return entry !== null && JSON.parse(entry.value as string).format === 1;
}
