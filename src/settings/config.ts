/** The settings of the service. Only this module reads the environment. */

import { RATE_LIMIT_MAX } from "../http/limits/rate_limiter.ts";
import { isHost, parseHttpAddress } from "../runtime/network_address.ts";
import { DEFAULT_KV_PATH } from "./default_kv_path.ts";
import { type DatabaseAddress, parseDatabaseUrl } from "../store/postgres/database_url.ts";
import type { StoreLocation } from "../store/store_location.ts";
import { type VariableName, VARIABLES } from "./variables.ts";

/** The settings of the store, which the tools read too. */
export interface StoreConfig {
  store: StoreLocation;
}

/** The settings of the service. */
export interface ServiceConfig extends StoreConfig {
  /** `port` and `hostname` are `undefined` if the platform decides where to listen. */
  port: number | undefined;
  hostname: string | undefined;
  /** The origins whose scripts may read responses in a browser. */
  corsOrigins: string[];
  /** Requests per second for each key; `undefined` means no limit. */
  rateLimit: number | undefined;
  /** The addresses of the service for clients, for its OpenAPI description. */
  addresses: { production?: string; staging?: string; contact?: string };
  /** Whether Deno's OpenTelemetry is on. */
  telemetry: boolean;
  /** Whether the console sends its lines to OpenTelemetry, instead of printing them. */
  sendsLogs: boolean;
}

/** A setting is not valid; the message names the variable. */
export class ConfigError extends Error {
  override name = "ConfigError";
}

/** Reads the settings of the store. Throws `ConfigError`. */
export function readStoreConfig(): StoreConfig {
  return { store: readStore() };
}

/** Reads the settings of a development server: without `HOST`, it listens on loopback. Throws `ConfigError`. */
export function readDevConfig(): ServiceConfig {
  return readServiceConfig("127.0.0.1");
}

/** Reads all settings. Throws `ConfigError`. */
export function readServiceConfig(defaultHost: string = VARIABLES.HOST.default): ServiceConfig {
  const isPlatform = isOnDenoDeploy();
  return {
    corsOrigins: readCorsOrigins(),
    rateLimit: readRateLimit(),
    addresses: {
      production: readAddress("PUBLIC_URL"),
      staging: readAddress("STAGING_URL"),
      contact: readContact(),
    },
    telemetry: isTelemetryOn(),
    sendsLogs: isTelemetryOn() && read("OTEL_DENO_CONSOLE") === "replace",
    port: isPlatform ? undefined : readPort(),
    hostname: isPlatform ? undefined : readHost(defaultHost),
    ...readStoreConfig(),
  };
}

/** Whether Deno's OpenTelemetry is on, according to the variable that Deno itself reads. */
export function isTelemetryOn(): boolean {
  return ["true", "1"].includes(read("OTEL_DENO") ?? "");
}

function readStore(): StoreLocation {
  const url = read("DATABASE_URL");
  if (url === undefined) {
    if (read("READS") !== undefined) {
      throw new ConfigError("READS has no effect without DATABASE_URL");
    }
    return isOnDenoDeploy() ? readKvPathOnDenoDeploy() : readKvPath();
  }
  if (read("KV_PATH") !== undefined) {
    throw new ConfigError("KV_PATH and DATABASE_URL must not both be set: each names a store");
  }
  const address = parseUrl(url);
  const settings = {
    ...address,
    password: address.password ?? read("PGPASSWORD"),
    passfile: read("PGPASSFILE"),
    strictReads: readStrictReads(),
  };
  return { kind: "postgres", settings };
}

function parseUrl(url: string): DatabaseAddress {
  try {
    return parseDatabaseUrl(url);
  } catch (error) {
    // The message does not repeat the address, because it may contain a password.
    throw new ConfigError(`DATABASE_URL ${(error as TypeError).message}`);
  }
}

function readStrictReads(): boolean {
  const text = read("READS") ?? "primary";
  if (text === "strict" || text === "primary") return text === "strict";
  throw new ConfigError(`READS must be primary or strict, not ${JSON.stringify(text)}`);
}

function readPort(): number {
  const text = read("PORT") ?? VARIABLES.PORT.default;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new ConfigError(`PORT must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
}

function readHost(defaultHost: string): string {
  const text = read("HOST") ?? defaultHost;
  if (isHost(text) && !text.startsWith("[")) return text;
  throw new ConfigError(`HOST must be a host name or an IP address, not ${JSON.stringify(text)}`);
}

/**
 * Files on Deno Deploy do not outlive the process, so the store is the attached database. Two variables of Deno
 * name it; if they do not name a server, Deno would silently open a local store. Throws
 * {@linkcode ConfigError} in that case, and if `KV_PATH` is set.
 */
function readKvPathOnDenoDeploy(): StoreLocation {
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

function readKvPath(): StoreLocation {
  const path = read("KV_PATH") ?? DEFAULT_KV_PATH;
  if (path === ":memory:") return { kind: "memory" };
  const [, scheme] = /^([a-z][a-z0-9+.-]+):\/\//i.exec(path) ?? [];
  if (scheme === undefined && !/^https?:/i.test(path)) {
    return { kind: "file", path, isDefault: path === DEFAULT_KV_PATH };
  }
  // The errors below do not repeat the address, because it may contain a password.
  const address = parseHttpAddress(path);
  if (scheme === undefined || address === undefined) {
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

function readCorsOrigins(): string[] {
  const origins = read("CORS_ORIGINS")?.split(",").map((origin) => origin.trim()) ?? [];
  for (const origin of origins) {
    if (isOrigin(origin)) continue;
    throw new ConfigError(
      "CORS_ORIGINS must be origins such as https://shop.example, separated by commas, not " +
        JSON.stringify(origin),
    );
  }
  return origins;
}

/** Whether the text is an origin exactly as a browser sends it. Any other text, or `*`, would never match. */
function isOrigin(text: string): boolean {
  return /^https?:[^*]+$/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function readRateLimit(): number | undefined {
  const text = read("RATE_LIMIT");
  if (text === undefined) return undefined;
  const rate = Number(text);
  if (/^\d+$/.test(text) && rate >= 1 && rate <= RATE_LIMIT_MAX) return rate;
  throw new ConfigError(
    `RATE_LIMIT must be a whole number of requests per second from 1 to ${RATE_LIMIT_MAX}, not ` +
      JSON.stringify(text),
  );
}

function readAddress(name: VariableName): string | undefined {
  const text = read(name);
  if (text === undefined) return undefined;
  const { protocol, pathname, search, hash, username, password, href } = URL.parse(text) ?? {};
  const isHttp = protocol === "https:" || protocol === "http:";
  const isBare = [search, hash, username, password].every((part) => part === "");
  // In links, the address must be free of characters that only a parser of URLs accepts.
  if (isHttp && isBare && pathname?.endsWith("/v1")) return href;
  throw new ConfigError(
    `${name} must be an http(s) address whose path ends in /v1, not ${JSON.stringify(text)}`,
  );
}

function readContact(): string | undefined {
  const text = read("CONTACT");
  if (text === undefined || /^[^\s@:/]+@[^\s@:/]+$/.test(text)) return text;
  const address = /^https?:/.test(text) ? URL.parse(text) : null;
  if (address !== null) return address.href;
  throw new ConfigError(
    `CONTACT must be a mail address or an http(s) address, not ${JSON.stringify(text)}`,
  );
}

function isOnDenoDeploy(): boolean {
  return read("DENO_DEPLOYMENT_ID") !== undefined;
}

/** Reads a variable. An empty variable counts as unset. */
function read(name: VariableName): string | undefined {
  return Deno.env.get(name) || undefined;
}
