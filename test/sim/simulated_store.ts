import { NO_FAULTS, type StoreFaultProfile } from "./fault_profile.ts";
import type { ModelStore } from "./model_store.ts";
import type { Node } from "./node.ts";
import type { Simulation } from "./simulation.ts";

/** A store that all nodes share: its exact contents, and the faults that its clients currently see. */
export class SimulatedStore {
  readonly simulation: Simulation;
  readonly model: ModelStore;
  faultProfile: StoreFaultProfile = NO_FAULTS;
  /** Until when the store is unavailable, and whether it then refuses calls or does not respond. */
  outage = { until: -Infinity, refuses: true };
  /** The node whose commit the store is applying. The oracle reads it. */
  committing: Node | undefined;

  constructor(simulation: Simulation, model: ModelStore) {
    this.simulation = simulation;
    this.model = model;
  }

  endOutage(): void {
    this.outage.until = this.simulation.now;
  }
}
