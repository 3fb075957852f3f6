/** The settings of the service. Only this module reads the environment. */

import {
  HAS_DENO_KV,
  type NamedStore,
  parseDatabaseUrl,
  reasonOf,
  type StoreLocation,
} from "eventstore-less/startup";
import { isAbsolute } from "node:path";
import process from "node:process";
import { TrustedProxies } from "../api/requests/trusted_proxies.ts";
import { Networks } from "../runtime/networks.ts";
import { WebhookKeys } from "../webhooks/secrets.ts";
import {
  DEV_DEFAULTS,
  type InternalVariableName,
  type VariableName,
  VARIABLES,
} from "./variables.ts";

const PORT_MAX = 65_535;

/** Highest rate of requests per second. */
const RATE_LIMIT_MAX = 1_000_000;

export interface Address {
  hostname: string;
  port: number;
}

export interface ServiceConfig {
  store: NamedStore;
  /** Whether the service makes a missing store, and starts on one without events. One in memory is always made. */
  makesStore: boolean;
  /** `port` and `hostname` are `undefined` if the platform decides where to listen. */
  port: number | undefined;
  hostname: string | undefined;
  /** How many processes a supervisor starts; `undefined` if the service is a single process. */
  processes: number | undefined;
  /** The number of this process, from 1 on, if it shares its port with others. */
  processNumber: number | undefined;
  /** The process id of the supervisor, if this process shares its port with others. */
  supervisor: number | undefined;
  /** The address for Prometheus, of this process or, in the supervisor, of the first one; `undefined` if there is none. */
  metrics: Address | undefined;
  corsOrigins: string[];
  /** Requests per second for each key; `undefined` means no limit. */
  rateLimit: number | undefined;
  /** The address of the service for clients, which ends in /v1. */
  publicUrl: string | undefined;
  stagingUrl: string | undefined;
  /** Whether a line is logged for each response. */
  accessLog: boolean;
  /** The proxies whose `X-Forwarded-For` names the client; `undefined` if none is trusted. */
  trustedProxies: TrustedProxies | undefined;
  /** The keys for the secrets of webhooks; `undefined` if webhooks are off. */
  webhookKeys: WebhookKeys | undefined;
  /** Private addresses that webhooks may have. */
  webhookAllow: Networks | undefined;
}

/** The settings of a service whose store has been located. */
export type LocatedConfig = Omit<ServiceConfig, "store"> & { store: StoreLocation };

/** A setting is not valid; the message names the variable. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

export class ListenError extends Error {
  override name = "ListenError";

  /** `prefix` begins the names of the variables. */
  constructor({ hostname, port }: Partial<Address>, cause: unknown, prefix = "") {
    const reason = (cause as { code?: string }).code === "EADDRINUSE"
      ? `the port is in use; set ${prefix}PORT to another`
      : reasonOf(cause);
    super(`Cannot listen on ${hostname}:${port} (${prefix}HOST, ${prefix}PORT): ${reason}`);
  }
}

/** Throws `ConfigError`. */
export function readStoreConfig(): Pick<ServiceConfig, "store"> {
  return { store: databaseUrl() === undefined ? readKvStore() : readDatabase() };
}

/** The address of the PostgreSQL database that the settings name, if they name one. */
export function databaseUrl(): string | undefined {
  return read("DATABASE_URL");
}

/** The host and the port at which a client on this machine finds the service; `undefined` if the settings name no port. */
export function readServiceAddress(): string | undefined {
  const port = readPort();
  if (port === undefined || port === 0) return undefined;
  const host = readHost("HOST") ?? VARIABLES.HOST.default;
  if (host === "0.0.0.0" || host === "::") return `localhost:${port}`;
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The name of the program that runs the commands, such as `pets`; `undefined` if an operator calls them directly. */
export function readCaller(): string | undefined {
  return read("CALLED_AS");
}

/**
 * Throws `ConfigError` if a variable names a file that is relative and a program such as `pets` runs the commands: the
 * settings would mean another file in each folder.
 */
function expectFullName(path: string, variable: VariableName): void {
  const caller = readCaller();
  if (caller === undefined || isAbsolute(path)) return;
  throw new ConfigError(
    `Name ${path} (${variable}) from the root (/…): ${caller} runs in any folder`,
  );
}

/** Throws `ConfigError`. */
export function readDevConfig(): ServiceConfig {
  return readServiceConfig(DEV_DEFAULTS);
}

const NETWORKS = "addresses and networks such as 127.0.0.1, 10.0.0.0/8, separated by commas";

/** Throws `ConfigError`. */
export function readServiceConfig(
  defaults: Partial<Record<VariableName, string>> = {},
): ServiceConfig {
  const isPlatform = isOnDenoDeploy();
  const origins = "origins such as https://shop.example, separated by commas";
  const rates = `a whole number of requests per second from 1 to ${RATE_LIMIT_MAX}`;
  const address = "an http(s) address whose path ends in /v1";
  const processNumber = Number(read("SUPERVISED_PROCESS")) || undefined;
  const processes = readProcesses();
  return {
    makesStore: readMakesStore(defaults.NEW_STORE ?? VARIABLES.NEW_STORE.default),
    processes,
    processNumber,
    supervisor: Number(read("SUPERVISOR_PID")) || undefined,
    metrics: isPlatform ? undefined : readMetricsAddress(processes, processNumber),
    accessLog:
      readAs("ACCESS_LOG", "true or false", (it) => /^(true|false)$/.exec(it)?.[0]) === "true",
    trustedProxies: readAs("TRUSTED_PROXIES", NETWORKS, TrustedProxies.parse),
    ...readWebhookConfig(defaults),
    corsOrigins: readAs("CORS_ORIGINS", origins, parseOrigins) ?? [],
    rateLimit: readAs("RATE_LIMIT", rates, (text) => parseInteger(text, 1, RATE_LIMIT_MAX)),
    publicUrl: readAs("PUBLIC_URL", address, parseAddress),
    stagingUrl: readAs("STAGING_URL", address, parseAddress),
    port: isPlatform ? undefined : readPort() ?? Number(VARIABLES.PORT.default),
    hostname: isPlatform ? undefined : readHost("HOST") ?? defaults.HOST ?? VARIABLES.HOST.default,
    ...readStoreConfig(),
  };
}

function readPort(): number | undefined {
  return readAs("PORT", `a number from 0 to ${PORT_MAX}`, (it) => parseInteger(it, 0, PORT_MAX));
}

/** Prometheus would not find a free port, which 0 would mean. */
function readMetricsAddress(processes = 1, processNumber = 1): Address | undefined {
  const hostname = readHost("METRICS_HOST") ?? VARIABLES.METRICS_HOST.default;
  const max = PORT_MAX - processes + 1;
  const reason = processes === 1 ? "" : `, because each of ${processes} processes takes one`;
  const parse = (text: string) => parseInteger(text, 1, max);
  const first = readAs("METRICS_PORT", `a number from 1 to ${max}${reason}`, parse);
  return first === undefined ? undefined : { hostname, port: first + processNumber - 1 };
}

function readMakesStore(byDefault: string): boolean {
  const parse = (text: string) => /^(make|refuse)$/.exec(text)?.[0];
  const choice = readAs("NEW_STORE", "make or refuse", parse);
  const isInMemory = read("KV_PATH") === ":memory:";
  if (choice === "refuse" && isInMemory) {
    throw new ConfigError(
      "NEW_STORE must not be refuse if KV_PATH is :memory:, which is always new",
    );
  }
  return isInMemory || (choice ?? byDefault) === "make";
}

/** Deno chooses the permissions of `start` by the same rule, in `deno.json`: a supervisor serves every value but 1. */
function readProcesses(): number | undefined {
  const cores = String(Math.min(navigator.hardwareConcurrency, 64));
  const parse = (text: string) => parseInteger(text === "auto" ? cores : text, 1, 64);
  const count = readAs("PROCESSES", "auto or a number from 1 to 64", parse);
  if (count === undefined || read("PROCESSES") === "1") return undefined;
  const reason = reasonForOneProcess();
  if (count > 1 && reason !== undefined) throw new ConfigError(`PROCESSES must be 1 ${reason}`);
  return count;
}

/** Why several processes cannot serve; `undefined` if they can. */
function reasonForOneProcess(): string | undefined {
  if (read("KV_PATH") === ":memory:") return "if KV_PATH is :memory:, which they cannot share";
  if (process.platform !== "linux") return "because only Linux spreads connections over more";
  return undefined;
}

/** The settings of webhooks, for a command that calls an endpoint, too. Throws {@linkcode ConfigError}. */
export function readWebhookConfig(
  defaults: Partial<Record<VariableName, string>> = {},
): Pick<ServiceConfig, "webhookAllow" | "webhookKeys"> {
  return {
    webhookKeys: readWebhookKeys(),
    webhookAllow: readAs("WEBHOOK_ALLOW", NETWORKS, Networks.parse) ??
      Networks.parse(defaults.WEBHOOK_ALLOW ?? ""),
  };
}

/** The message does not repeat the key. */
function readWebhookKeys(): WebhookKeys | undefined {
  const text = read("WEBHOOK_KEY");
  const keys = text === undefined ? undefined : WebhookKeys.parse(text);
  if (text === undefined || keys !== undefined) return keys;
  throw new ConfigError(
    "WEBHOOK_KEY must be 32 bytes in base64, as openssl rand -base64 32 makes them, or two such " +
      "keys, separated by a comma",
  );
}

function readHost(name: "HOST" | "METRICS_HOST"): string | undefined {
  // The system says at the start what is wrong with a name of these characters.
  const parse = (text: string) => /^[\w.:%-]+$/.exec(text)?.[0];
  return readAs(name, "a host name or an IP address", parse);
}

function readDatabase(): NamedStore {
  if (read("KV_PATH") !== undefined) {
    throw new ConfigError("KV_PATH and DATABASE_URL must not both be set: each names a store");
  }
  let address;
  try {
    address = parseDatabaseUrl(read("DATABASE_URL")!);
  } catch (error) {
    // The message does not repeat the address, because it may contain a password.
    throw new ConfigError(`DATABASE_URL ${(error as TypeError).message}`);
  }
  const reads = readAs("READS", "primary or strict", (it) => /^(primary|strict)$/.exec(it)?.[0]);
  const passfile = read("PGPASSFILE");
  if (passfile !== undefined) expectFullName(passfile, "PGPASSFILE");
  const settings = {
    ...address,
    password: address.password ?? read("PGPASSWORD"),
    passfile,
    strictReads: reads === "strict",
  };
  return { kind: "postgres", settings };
}

function readKvStore(): NamedStore {
  if (read("READS") !== undefined) {
    throw new ConfigError("READS has no effect without DATABASE_URL");
  }
  return isOnDenoDeploy() ? readAttachedDatabase() : readKvPath();
}

/**
 * Files on Deno Deploy do not outlive the process, so the store is the attached database. Two variables of Deno
 * name it; if they do not name a server, Deno would silently open a local store.
 */
function readAttachedDatabase(): NamedStore {
  if (read("KV_PATH") !== undefined) {
    throw new ConfigError("KV_PATH must not be set on Deno Deploy: attach a database there");
  }
  const path = read("DENO_KV_DEFAULT_PATH");
  const prefix = read("DENO_KV_PATH_PREFIX") ?? "";
  if (path !== undefined && /^https?:\/\//.test(prefix + path)) return { kind: "attached" };
  throw new ConfigError(
    "A database must be attached on Deno Deploy: DENO_KV_DEFAULT_PATH is not the address of one",
  );
}

function readKvPath(): NamedStore {
  // The folder of the default store is created if it is missing.
  const byDefault = VARIABLES.KV_PATH.default;
  const path = read("KV_PATH") ?? byDefault;
  if (path === ":memory:") return { kind: "memory" };
  const isUrl = /^[a-z][a-z0-9+.-]+:\/\//i.test(path);
  const isFile = !isUrl && !/^https?:/i.test(path);
  if (isFile) {
    expectFullName(path, "KV_PATH");
    return { kind: "named_file", name: path, isDefault: path === byDefault };
  }
  if (!HAS_DENO_KV) {
    throw new ConfigError(
      "KV_PATH must be a file or :memory: on Node, which has no client of KV Connect",
    );
  }
  // The errors below do not repeat the address, because it may contain a password.
  const address = isUrl ? URL.parse(path) : null;
  if (address === null || !/^https?:$/.test(address.protocol)) {
    throw new ConfigError("KV_PATH must be a file, :memory: or an http(s) address");
  }
  if (address.username !== "" || address.password !== "" || address.search !== "") {
    throw new ConfigError("KV_PATH must not contain credentials; set DENO_KV_ACCESS_TOKEN");
  }
  if (read("DENO_KV_ACCESS_TOKEN") === undefined) {
    throw new ConfigError("DENO_KV_ACCESS_TOKEN must be set if KV_PATH is an address");
  }
  return { kind: "kv_connect", address: path };
}

function parseInteger(text: string, min: number, max: number): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && number >= min && number <= max ? number : undefined;
}

/** Each must be exactly as a browser sends it. Any other text, or `*`, would never match. */
function parseOrigins(text: string): string[] | undefined {
  const origins = text.split(",").map((origin) => origin.trim());
  const isOrigin = (it: string) => /^https?:[^*]+$/.test(it) && URL.parse(it)?.origin === it;
  return origins.every(isOrigin) ? origins : undefined;
}

function parseAddress(text: string): string | undefined {
  const { protocol, pathname, search, hash, username, password, href } = URL.parse(text) ?? {};
  const isHttp = protocol === "https:" || protocol === "http:";
  const isBare = [search, hash, username, password].every((part) => part === "");
  // In links, the address must be free of characters that only a parser of URLs accepts.
  return isHttp && isBare && pathname?.endsWith("/v1") ? href : undefined;
}

function isOnDenoDeploy(): boolean {
  return HAS_DENO_KV && read("DENO_DEPLOYMENT_ID") !== undefined;
}

/** Reads a variable of a form, which completes "must be". `parse` returns `undefined` for another text. */
function readAs<T>(
  name: VariableName,
  form: string,
  parse: (text: string) => T | undefined,
): T | undefined {
  const text = read(name);
  const value = text === undefined ? undefined : parse(text);
  if (text === undefined || value !== undefined) return value;
  throw new ConfigError(`${name} must be ${form}, not ${JSON.stringify(text)}`);
}

/** Reads a variable. An empty variable counts as unset. */
function read(name: VariableName | InternalVariableName): string | undefined {
  return process.env[name] || undefined;
}
