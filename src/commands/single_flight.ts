import { ServiceError } from "../service_error.ts";
import type { Runtime } from "../runtime.ts";
import { APPEND_LIMIT_MS } from "../log/appender.ts";

/** Maximum total wait for calls with the same key, in milliseconds. */
export const SINGLE_FLIGHT_LIMIT_MS = APPEND_LIMIT_MS;

/** How many may wait for others; one more is refused at once. */
export const SINGLE_FLIGHT_WAITING_LIMIT = 2_048;

/**
 * What is under way on this instance, by name, and of each name one at a time. Who comes second waits
 * for the first and shares its outcome; where the first failed, the second starts its own.
 */
export class SingleFlight<Outcome extends object> {
  #runtime: Runtime;
  #waiting = 0;
  #underWay = new Map<string, Promise<Outcome | undefined>>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /**
   * Rejects as `start` does, or with `outcome_unknown` if too many wait or if others of the name failed
   * for too long.
   */
  async share(name: string, start: () => Promise<Outcome>): Promise<Outcome> {
    const deadline = this.#runtime.monotonicNow() + SINGLE_FLIGHT_LIMIT_MS;
    for (let flight; (flight = this.#underWay.get(name)) !== undefined;) {
      const outcome = await this.#waitFor(flight);
      if (outcome !== undefined) return outcome;
      if (this.#runtime.monotonicNow() >= deadline) {
        throw new ServiceError(
          "outcome_unknown",
          "Earlier requests with the same Idempotency-Key have had no outcome yet",
        );
      }
    }
    const own = start();
    // Whoever waits goes on after the name is free again, and the first of them takes it.
    const landing = () => void this.#underWay.delete(name);
    this.#underWay.set(name, own.then((outcome) => (landing(), outcome), landing));
    return await own;
  }

  async #waitFor(flight: Promise<Outcome | undefined>): Promise<Outcome | undefined> {
    if (this.#waiting >= SINGLE_FLIGHT_WAITING_LIMIT) {
      // The first of them may yet be stored, so this is no `overloaded`.
      throw new ServiceError(
        "outcome_unknown",
        "Too many requests with the same Idempotency-Key wait for the first of them",
      );
    }
    this.#waiting++;
    try {
      return await flight;
    } finally {
      this.#waiting--;
    }
  }
}
