import { OpenStoreError } from "eventstore-less";
import {
  acceptAppends,
  acceptFilledLog,
  expectRightClock,
  ForeignStoreError,
  GUARD_KEYS,
  sleep,
} from "eventstore-less/parts";
import { systemRuntime } from "eventstore-less/startup";
import { isMissingFile, openStore, type Store, watchFile } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import process from "node:process";
import { buildCommit } from "this-runtime/build_commit.ts";
import { writeStdout } from "this-runtime/stdio.ts";
import { type Address, ListenError, type LocatedConfig } from "../settings/config.ts";
import { checkStoreFile } from "./check_store_file.ts";
import { exitAfterLog } from "./exit.ts";
import { logStart } from "./log_start.ts";
import { ERRORS } from "../api/errors.ts";
import { Replication } from "./replication.ts";
import type { RequestHandler } from "../runtime/service_request.ts";
import { Server, type ServerOptions } from "../server/server.ts";
import { createService, type Service } from "../service.ts";
import { shutDown } from "./shut_down.ts";
import { logAsProcess, stderrLogger } from "../runtime/stderr_logger.ts";
import type { Instrumentation } from "../runtime/instrumentation.ts";
import { VERSION } from "../settings/version.ts";

/**
 * Opens the store, and serves until SIGTERM, SIGINT or SIGHUP ends the process, also while a remote store is away. Rejects with
 * {@linkcode OpenStoreError} or {@linkcode ListenError}, and as {@linkcode expectRightClock} throws.
 */
export async function serve(
  config: LocatedConfig,
  onListening: (service: Service, address: Server["addr"]) => Promise<void> | void = () => {},
): Promise<void> {
  expectRightClock(new Date(systemRuntime.now()).toISOString());
  logAsProcess(config.processNumber);
  const { promise: refused, reject: onRefused } = Promise.withResolvers<never>();
  // It may be refused before, or after, anybody waits for it. Without a handler, that would count as a crash.
  refused.catch(() => {});
  const opened = await openConfiguredStore(config, onRefused);
  const metrics = await loadMetrics(config);
  const service = createConfiguredService(config, opened, metrics?.instrumentation);
  let servers: Servers;
  try {
    servers = await startServers(config, service, metrics);
  } catch (error) {
    opened.store.close();
    throw error;
  }
  const { server } = servers;
  keepOnFileSizeLimit();
  checkOwner(config, service, onRefused);
  const stopWatch = await watchStore(config, service);
  const stopped = stopOnSignal(config, service, servers, stopWatch);
  await Promise.race([refused, onListening(service, server.addr)]);
  service.sweep.start();
  service.deliveries?.start();
  // Logged only after the signal listeners exist, because a reader of the first line may send a signal.
  void logStart(service, { ...server.addr, commit: buildCommit() }, config.store, opened.isNew)
    .then(() => untilIndexFilled(service)).catch(() => {})
    .then(() => tellReady(config));
  if (config.store.kind === "file") void checkStoreFile(service, config.store.path);
  await Promise.race([refused, stopped]);
}

interface OpenedStore {
  store: Store;
  replication: Replication;
  /** Whether the service has created the file or the tables of the store. It may create tables later, if they are away. */
  isNew: () => boolean;
}

async function openConfiguredStore(
  config: LocatedConfig,
  onRefused: (error: OpenStoreError) => void,
): Promise<OpenedStore> {
  const isFileMissing = await isMissingFile(config.store);
  let hasCreatedSchema = false;
  const replication = new Replication(config.store, stderrLogger);
  const store = await openStore(config.store, {
    create: config.makesStore,
    accept: (store) => (config.makesStore ? acceptAppends : acceptFilledLog)(APPLICATION, store),
    program: APPLICATION.dashedName,
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
    onSchemaCreated: () => {
      hasCreatedSchema = true;
    },
    onReplicated: (waitsForStandby) => replication.check(waitsForStandby),
    service: { onRefused },
  });
  return { store, replication, isNew: () => isFileMissing || hasCreatedSchema };
}

/** The metrics for Prometheus, and the address at which it reads them. */
interface Metrics {
  address: Address;
  handler: RequestHandler;
  instrumentation: Instrumentation;
}

/** Resolves to `undefined` if the metrics are off. Their code is loaded only if they are on. */
async function loadMetrics(config: LocatedConfig): Promise<Metrics | undefined> {
  const address = config.metrics;
  if (address === undefined) return undefined;
  const { prometheus } = await import("../telemetry/prometheus.ts");
  const { instrumentation, handler } = prometheus({
    runtime: systemRuntime,
    storeFile: config.store.kind === "file" ? config.store.path : "",
    version: VERSION,
    commit: buildCommit(),
    errorCodes: Object.keys(ERRORS),
  });
  return { address, handler, instrumentation };
}

function createConfiguredService(
  config: LocatedConfig,
  { store, replication }: OpenedStore,
  instrumentation: Instrumentation | undefined,
): Service {
  return createService({
    store,
    runtime: systemRuntime,
    report: stderrLogger,
    accessLog: config.accessLog,
    trustedProxies: config.trustedProxies,
    webhookAllow: config.webhookAllow,
    webhookKeys: config.webhookKeys,
    corsOrigins: config.corsOrigins,
    rateLimit: config.rateLimit,
    isDurable: config.store.kind !== "memory",
    areCommitsReplicated: () => replication.read(),
    publicUrl: config.publicUrl,
    stagingUrl: config.stagingUrl,
    instrumentation,
  });
}

interface Servers {
  server: Server;
  metricsServer: Server | undefined;
}

/** Rejects with `ListenError`. */
async function startServers(
  config: LocatedConfig,
  service: Service,
  metrics: Metrics | undefined,
): Promise<Servers> {
  const { report, runtime } = service;
  let metricsServer: Server | undefined;
  if (metrics !== undefined) {
    const { address, handler } = metrics;
    metricsServer = await listen({ ...address, handler, runtime, report }, "METRICS_");
  }
  const { hostname, port } = config;
  const { handler } = service;
  const reusePort = config.processNumber !== undefined;
  const server = await listen({ hostname, port, reusePort, handler, runtime, report });
  return { server, metricsServer };
}

/** `prefix` begins the names of the variables. */
async function listen(options: ServerOptions, prefix = ""): Promise<Server> {
  try {
    return await Server.listen(options);
  } catch (error) {
    throw new ListenError(options, error, prefix);
  }
}

/** Resolves when the index of categories is filled. Rejects if the store is away; a probe or a request fills it later. */
async function untilIndexFilled({ index, heads }: Service): Promise<void> {
  const { head } = await heads.fresh();
  let isFilled = false;
  while (!isFilled) isFilled = await index.isReady(head);
}

/** The supervisor starts or restarts the next process only then. */
async function tellReady({ processNumber }: LocatedConfig): Promise<void> {
  if (processNumber === undefined) return;
  // If the supervisor has ended, its pipe is closed, and this process ends, too.
  await writeStdout(new TextEncoder().encode("ready\n")).catch(() => {});
}

/**
 * If the size of files is limited (setrlimit(2), RLIMIT_FSIZE), a write beyond the limit ends the process. With a
 * listener for the signal, the write fails as on a full disk instead, and is retried.
 */
function keepOnFileSizeLimit(): void {
  if (process.platform !== "win32") process.on("SIGXFSZ", () => {});
}

/** The first read checks that the store is reachable and belongs to the service, and starts the wait for it. */
function checkOwner(
  config: LocatedConfig,
  { heads }: Service,
  onRefused: (error: OpenStoreError) => void,
): void {
  heads.fresh().catch((error) => {
    if (!(error instanceof ForeignStoreError)) return;
    onRefused(new OpenStoreError(config.store, error.message));
  });
}

/** Stops appends while the file of the store is lost. Resolves to a function that ends the watch. */
async function watchStore(
  { store }: LocatedConfig,
  { appender, runtime }: Service,
): Promise<() => void> {
  if (store.kind !== "file") return () => {};
  return await watchFile(store, runtime, stderrLogger, (fault) => {
    appender.suspension = fault;
  });
}

/** Shuts down at the first signal, and exits. */
function stopOnSignal(
  config: LocatedConfig,
  service: Service,
  { server, metricsServer }: Servers,
  stopWatch: () => void,
): Promise<void> {
  return exitOnSignal(async (signal) => {
    stderrLogger("info", "shutting_down", { signal });
    // The supervisor restarts this process, while others serve the port.
    if (signal === "SIGHUP" && config.processNumber !== undefined) {
      server.leave();
      await sleep(service.runtime, LEAVE_MS);
    }
    // The close of the store removes its write-ahead log.
    stopWatch();
    await Promise.all([shutDown(service, server), metricsServer?.shutdown()]);
    stderrLogger("info", "stopped");
  });
}

/** Time in which the connections of a process that restarts move to others, in milliseconds. */
const LEAVE_MS = 300;

/** Time after a signal, in milliseconds, when the process ends at the latest. The shutdown takes less. */
const END_LIMIT_MS = 4_800;

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

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
