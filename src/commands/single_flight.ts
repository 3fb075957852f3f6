import { ServiceError } from "../service_error.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { APPEND_LIMIT_MS } from "../append/appender.ts";

/** Maximum number of waiting calls, over all keys. A further call is rejected at once. */
export const SINGLE_FLIGHT_WAITING_LIMIT = 2_048;

/**
 * Runs one operation at a time for each name on this instance. A later call with the same name waits for the
 * running operation and shares its outcome. If that operation failed or has none, the later call starts its own.
 */
export class SingleFlight<Outcome> {
  #runtime: Runtime;
  #waiting = 0;
  /** They never reject. */
  #underWay = new Map<string, Promise<Outcome | undefined>>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /**
   * Rejects as `start` does. Rejects with `outcome_unknown` if too many calls wait, or if operations of the
   * same name keep failing for {@linkcode APPEND_LIMIT_MS}.
   */
  async share(
    name: string,
    start: () => Promise<Outcome | undefined>,
  ): Promise<Outcome | undefined> {
    const deadline = this.#runtime.monotonicNow() + APPEND_LIMIT_MS;
    for (let flight; (flight = this.#underWay.get(name)) !== undefined;) {
      // The running operation may still be stored, so `overloaded` would be wrong.
      if (this.#waiting >= SINGLE_FLIGHT_WAITING_LIMIT) {
        throw unknown("Too many requests with the same Idempotency-Key wait for the first of them");
      }
      this.#waiting++;
      const outcome = await flight;
      this.#waiting--;
      if (outcome !== undefined) return outcome;
      if (this.#runtime.monotonicNow() >= deadline) {
        throw unknown("Earlier requests with the same Idempotency-Key have had no outcome yet");
      }
    }
    const own = start();
    // Waiting calls resume after the name is free again, and the first of them starts its own operation.
    const landing = () => void this.#underWay.delete(name);
    this.#underWay.set(name, own.then((outcome) => (landing(), outcome), landing));
    return await own;
  }
}

function unknown(message: string): ServiceError {
  return new ServiceError("outcome_unknown", message);
}
