import { APPEND_LIMIT_MS, sleep } from "eventstore-less/parts";
import type { Server } from "../server/server.ts";
import type { Service } from "../service.ts";

/**
 * In milliseconds after the shutdown begins. Deno Deploy ends a process after 5,000. Until `drain`, requests that
 * arrived completely may still store something. By `close`, all commands have their outcomes. At `exit`, the shutdown
 * is over even if something hangs.
 */
export const SHUTDOWN_MS = { drain: 500, close: 500 + APPEND_LIMIT_MS + 200, exit: 4_600 };

/** Finishes accepted requests, and closes the store. Resolves after `SHUTDOWN_MS.exit` at the latest. */
export async function shutDown(
  { appender, deliveries, endWaiting, runtime, store, sweep }: Service,
  server: Pick<Server, "shutdown">,
): Promise<void> {
  endWaiting();
  const swept = sweep.stop();
  const delivered = deliveries?.stop();
  const answered = server.shutdown();
  await Promise.race([answered, sleep(runtime, SHUTDOWN_MS.drain)]);
  const drained = Promise.all([answered, swept, delivered, appender.drain()]);
  await Promise.race([drained, sleep(runtime, SHUTDOWN_MS.close - SHUTDOWN_MS.drain)]);
  store.close();
  await Promise.race([answered, sleep(runtime, SHUTDOWN_MS.exit - SHUTDOWN_MS.close)]);
}
