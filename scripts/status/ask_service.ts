import { LOG_COMMAND } from "../../src/runtime/words.ts";
import { readServiceAddress } from "../../src/settings/config.ts";

/** The service at the address of the settings. */
export interface ServiceState {
  /** Its host and port. */
  address: string;
  /** Why it serves not all requests, after "The service at ADDRESS"; `undefined` if it does. */
  fault?: string;
}

/** A service that fills its index may let a probe wait. */
const TIME_LIMIT_MS = 3_000;

/** Asks the service whether it is ready, because it may see what its store does not show. `undefined` without a port. */
export async function askService(): Promise<ServiceState | undefined> {
  const address = readServiceAddress();
  if (address === undefined) return undefined;
  try {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    const response = await fetch(`http://${address}/readyz`, { signal });
    const { message } = await response.json();
    return response.ok ? { address } : { address, fault: `is not ready: ${message}` };
  } catch {
    return { address, fault: "does not answer" };
  }
}

/** The task that the fault of a service gives an operator, without a full stop; `undefined` if it has none. */
export function serviceTask({ address, fault }: ServiceState): string | undefined {
  if (fault === undefined) return undefined;
  return `The service at ${address} ${fault}. Before anything else, follow the last lines of its log: ${LOG_COMMAND}`;
}
