import process from "node:process";
import { type Address, ListenError, type ServiceConfig } from "../settings/config.ts";
import { checkStoreFile } from "./check_store_file.ts";
import { exitAfterLog } from "./exit.ts";
import { acceptAppends, acceptFilledLog } from "../log/accept_store.ts";
import { expectRightClock } from "../log/time_of_log.ts";
import { ForeignStoreError } from "../log/head.ts";
import { GUARD_KEYS } from "../keyspace.ts";
import { logStart } from "./log_start.ts";
import { PortShare } from "./port_share.ts";
import { endWithParent } from "./parent.ts";
import { ERRORS } from "../http/errors.ts";
import { Replication } from "./replication.ts";
import type { RequestHandler } from "../http/handler.ts";
import { Server } from "../server/server.ts";
import { createService, type Service } from "../service.ts";
import { shutDown } from "./shut_down.ts";
import { logAsProcess, stderrLogger } from "../runtime/stderr_logger.ts";
import { isMissingFile, watchFile } from "../store/deno_kv/store_file.ts";
import { openStore, OpenStoreError } from "../store/open_store.ts";
import type { StoreError } from "../store/store_errors.ts";
import { sleep } from "../runtime/runtime.ts";
import { VERSION } from "../settings/version.ts";
import { systemRuntime } from "../runtime/system_runtime.ts";

/**
 * Opens the store, and serves until SIGTERM, SIGINT or SIGHUP ends the process, also while a remote store is away. Rejects with
 * {@linkcode OpenStoreError} or {@linkcode ListenError}, and as {@linkcode expectRightClock} throws.
 */
export async function serve(
  config: ServiceConfig,
  onListening: (service: Service, address: Server["addr"]) => Promise<void> | void = () => {},
): Promise<void> {
  const runtime = systemRuntime;
  expectRightClock(new Date(runtime.now()).toISOString());
  const report = stderrLogger;
  logAsProcess(config.process);
  const isOnDenoDeploy = config.hostname === undefined;
  if (!isOnDenoDeploy) endWithParent(config.supervisor ?? process.ppid, runtime);
  const { promise: refused, reject: onRefused } = Promise.withResolvers<never>();
  let isNew = await isMissingFile(config.store);
  const replication = new Replication(config.store, report);
  const store = await openStore(config.store, {
    create: config.makesStore,
    accept: config.makesStore ? acceptAppends : acceptFilledLog,
    guardKeys: GUARD_KEYS,
    runtime,
    onSchemaCreated: () => isNew = true,
    onReplicated: (waitsForStandby) => replication.check(waitsForStandby),
    service: { onRefused },
  });
  const { metrics } = config;
  // Loaded only if it is on.
  const prometheus = metrics && (await import("../telemetry/prometheus.ts")).prometheus({
    runtime,
    storeFile: config.store.kind === "file" ? config.store.path : "",
    version: VERSION,
    errorCodes: Object.keys(ERRORS),
  });
  const service = createService({
    store,
    runtime,
    report,
    accessLog: config.accessLog,
    trustedProxies: config.trustedProxies,
    corsOrigins: config.corsOrigins,
    rateLimit: config.rateLimit,
    isDurable: config.store.kind !== "memory",
    areCommitsReplicated: () => replication.read(),
    publicUrl: config.publicUrl,
    stagingUrl: config.stagingUrl,
    instrumentation: prometheus?.instrumentation,
  });
  const listen = (
    { hostname, port }: Partial<Address>,
    handler: RequestHandler,
    { prefix = "", reusePort = false } = {},
  ) => {
    try {
      return new Server({ hostname, port, reusePort, handler, runtime, report: service.report });
    } catch (error) {
      store.close();
      throw new ListenError({ hostname, port }, error, prefix);
    }
  };
  const metricsServer = metrics && listen(metrics, prometheus!.handler, { prefix: "METRICS_" });
  const portShare = config.process === undefined ? undefined : new PortShare({
    address: { hostname: config.hostname!, port: config.port! },
    isReady: async () => (await service.handler(new Request(READY_URL))).status === 200,
    runtime,
    report: service.report,
  });
  if (portShare !== undefined) await unlessSignalled(portShare.untilNeeded());
  const server = listen(config, service.handler, { reusePort: config.process !== undefined });
  if (config.supervisor !== undefined && process.ppid !== config.supervisor) {
    // The supervisor reserved the port, and was killed. Another one may have found the port free a moment ago.
    void server.shutdown();
    store.close();
    throw new Error("The supervisor of this process has ended");
  }
  // If the size of files is limited (setrlimit(2), RLIMIT_FSIZE), a write beyond the limit ends the process. With
  // a listener for the signal, the write fails as on a full disk instead, and is retried.
  if (process.platform !== "win32") process.on("SIGXFSZ", () => {});
  // The first read checks that the store is reachable and belongs to the service, and starts the wait for it.
  service.heads.fresh().catch((error) => {
    if (!(error instanceof ForeignStoreError)) return;
    onRefused(new OpenStoreError(config.store, error.message));
  });
  const onChange = (fault?: StoreError) => void (service.appender.suspension = fault);
  const stopWatch = config.store.kind === "file"
    ? await watchFile(config.store.path, runtime, report, onChange)
    : undefined;
  const stopped = exitOnSignal(async (signal) => {
    report("info", "shutting_down", { signal });
    // The supervisor restarts this process, while others serve the port.
    if (signal === "SIGHUP" && config.process) {
      server.leave();
      await sleep(runtime, LEAVE_MS);
    }
    // The close of the store removes its write-ahead log.
    stopWatch?.();
    await Promise.all([shutDown(service, server), metricsServer?.shutdown()]);
    report("info", "stopped");
  });
  // The supervisor starts a successor, which listens once it is ready.
  void portShare?.untilUseless().then(() => process.emit("SIGHUP", "SIGHUP"));
  await Promise.race([refused, onListening(service, server.addr)]);
  // The supervisor restarts the next process only then.
  if (config.process) process.stdout.write("listening\n");
  service.sweep.start();
  // Logged only after the signal listeners exist, because a reader of the first line may send a signal.
  void logStart(service, server.addr, config.store, () => isNew);
  // On another runtime, a second SQLite in the process would not see the locks of the first.
  if (config.store.kind === "file" && process.versions.deno) {
    void checkStoreFile(service, config.store.path);
  }
  await Promise.race([refused, stopped]);
}

/** Asks the handler of this process itself. */
const READY_URL = "http://localhost/readyz";

/** Time in which the connections of a process that restarts move to others, in milliseconds. */
const LEAVE_MS = 300;

/** Time after a signal, in milliseconds, when the process ends at the latest. The shutdown takes less. */
const END_LIMIT_MS = 4_800;

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Waits before the process listens. A signal then ends the process, which has nothing to finish. */
async function unlessSignalled(wait: Promise<void>): Promise<void> {
  const onSignal = () => void exitAfterLog(0);
  for (const name of SIGNALS) process.on(name, onSignal);
  await wait;
  for (const name of SIGNALS) process.off(name, onSignal);
}

/** Runs `onSignal` at the first signal, and exits. Each parent process forwards a signal again. */
async function exitOnSignal(onSignal: (signal: string) => Promise<void>): Promise<void> {
  const signal = await new Promise<string>((resolve) => {
    for (const name of SIGNALS) {
      process.on(name, () => resolve(name));
    }
  });
  const receivedAt = systemRuntime.monotonicNow();
  await onSignal(signal);
  await exitAfterLog(0, END_LIMIT_MS - (systemRuntime.monotonicNow() - receivedAt));
}
