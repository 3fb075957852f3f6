import type { Store } from "../../src/store/store.ts";
import { drawStoreFaultProfile, LATE_MS, NO_FAULTS } from "./fault_profile.ts";
import { ModelStore } from "./model_store.ts";
import type { Node } from "./node.ts";
import { RecordRules } from "./record_rules.ts";
import { SimulatedStore } from "./simulated_store.ts";
import { auditStore } from "./log_jobs.ts";
import type { Workload } from "./workload.ts";

/** Number of runs of a restore under faults, most of them killed, before the faults stop. */
const FAULTY_RUNS = 4;

const CHUNK_BYTES = 1_000;

/**
 * Restores an export into another store despite faults, and compares the result with the log of the first
 * store.
 */
export async function restoreIntoAnotherStore(workload: Workload, lines: string[]): Promise<void> {
  const { cluster, code } = workload;
  const { simulation, oracle, violations } = cluster;
  const random = simulation.random.fork();
  const rules = new RecordRules(violations);
  const model = new ModelStore({
    now: () => simulation.now,
    expiryLagMs: () => 0,
    committed: ({ mutations }) => rules.observe(mutations),
  });
  const store = new SimulatedStore(simulation, model);
  store.faultProfile = drawStoreFaultProfile(random);
  cluster.faultProfiles.push({ phase: "restore", store: store.faultProfile });
  const bytes = new TextEncoder().encode(lines.map((line) => `${line}\n`).join(""));
  async function* source() {
    for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
      yield await Promise.resolve(bytes.subarray(start, start + CHUNK_BYTES));
    }
  }
  const restore = async (deps: { store: Store; runtime: Node }) => {
    await code.restore(deps, source, await code.verifyExport(source));
  };
  for (let run = 1;; run++) {
    const isFaulty = run <= FAULTY_RUNS;
    if (run === FAULTY_RUNS + 1) {
      store.faultProfile = NO_FAULTS;
      // Commits of killed runs that are still in flight arrive within this time.
      await simulation.sleep(LATE_MS.high + 1_000);
    }
    const options = isFaulty ? { store, diesAfterMs: random.between(0, 100) } : { store };
    const { outcome, reason } = await cluster.retryingCommand("restore", restore, options);
    if (isHead(model)) break;
    if (outcome === "done") return violations.add("A restore reported success but is incomplete");
    if (!isFaulty) return violations.add(`The restore failed without faults: ${reason}`);
  }
  oracle.checkLog(model);
  oracle.checkGeneration(JSON.parse(model.read(["head"])!.value as string).generation, model);
  await auditStore(workload, { isRequired: true, store });
}

/** Whether the value at the head's key is a head, not the mark of a restore. */
function isHead(model: ModelStore): boolean {
  const entry = model.read(["head"]);
  return entry !== null && JSON.parse(entry.value as string).format !== "restore";
}
