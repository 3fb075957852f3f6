import type { Config } from "./config.ts";
import { sleep } from "./host.ts";
import { reasonOf } from "./report.ts";
import { createService, type Service } from "./service.ts";
import { stderrReport } from "./stderr_report.ts";
import { isDurable, openStore } from "./store/open_store.ts";
import { systemHost } from "./system_host.ts";

/** How long a shutdown waits for requests that were accepted. */
const SHUTDOWN_LIMIT_MS = 15_000;

/**
 * Opens the store and serves until SIGTERM or SIGINT; then stops accepting, answers what was accepted,
 * drains the appender and closes the store. Throws where the store or the address cannot be had.
 */
export async function serve(
  config: Config,
  onListening: (service: Service, address: Deno.NetAddr) => Promise<void> | void = () => {},
): Promise<void> {
  const host = systemHost;
  const report = stderrReport;
  const store = await openStore(config.kvPath, true);
  const service = createService({
    store,
    host,
    report,
    corsOrigins: config.corsOrigins,
    isDurable: isDurable(config.kvPath),
  });
  let server: Deno.HttpServer<Deno.NetAddr>;
  try {
    server = Deno.serve({
      hostname: config.hostname,
      port: config.port,
      onListen: () => {},
      onError: (error) => {
        report("error", "answer_failed", { reason: reasonOf(error) });
        return new Response(null, { status: 500 });
      },
    }, service.handler);
  } catch (error) {
    store.close();
    throw new ListenError(config, error);
  }
  report("info", "listening", { hostname: server.addr.hostname, port: server.addr.port });
  const stopped = shutDownOnSignal(async (signal) => {
    report("info", "shutting_down", { signal });
    await Promise.race([server.shutdown(), sleep(host, SHUTDOWN_LIMIT_MS)]);
    await service.appender.drain();
    store.close();
    report("info", "stopped");
  });
  await onListening(service, server.addr);
  await stopped;
}

/** Runs `shutDown` at the first signal; a second one ends the process at once. */
async function shutDownOnSignal(shutDown: (signal: string) => Promise<void>): Promise<void> {
  const signals = ["SIGTERM", "SIGINT"] as const;
  const signal = await new Promise<string>((resolve) => {
    for (const name of signals) Deno.addSignalListener(name, () => resolve(name));
  });
  for (const name of signals) Deno.addSignalListener(name, () => Deno.exit(1));
  await shutDown(signal);
  Deno.exit(0);
}

/** The address cannot be listened on. */
export class ListenError extends Error {
  override name = "ListenError";

  constructor({ hostname, port }: Config, cause: unknown) {
    const reason = cause instanceof Deno.errors.AddrInUse
      ? "the port is in use; set PORT to another"
      : reasonOf(cause);
    super(`Cannot listen on ${hostname}:${port} (HOST, PORT): ${reason}`);
  }
}
