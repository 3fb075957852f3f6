/** The environment variables of all programs: the one table for `--help`, and for the README. */

import { DEFAULT_KV_PATH } from "./default_kv_path.ts";

interface Variable {
  meaning: string;
  default?: string;
}

export const VARIABLES = {
  PORT: { meaning: "port to listen on; 0 takes a free one and logs it", default: "8000" },
  HOST: { meaning: "address to listen on", default: "0.0.0.0" },
  KV_PATH: {
    meaning: "the store: a file, :memory: or an http(s) address",
    default: DEFAULT_KV_PATH,
  },
  DENO_KV_ACCESS_TOKEN: { meaning: "token of the KV Connect server, if KV_PATH is an address" },
  DATABASE_URL: {
    meaning: "a PostgreSQL database as the store: postgres://user@host:5432/database",
  },
  PGPASSWORD: { meaning: "password of the database" },
  PGPASSFILE: { meaning: "file with the password of the database, as ~/.pgpass" },
  READS: {
    meaning: "strict proves with each read that the database was not replaced",
    default: "primary",
  },
  CORS_ORIGINS: { meaning: "origins whose scripts may call the API, separated by commas" },
  PUBLIC_URL: {
    meaning: "address for clients, used in links and in the API description; ends in /v1",
  },
  STAGING_URL: { meaning: "address of the staging service, shown in the API description" },
  CONTACT: { meaning: "mail or http(s) address for questions, shown in the API description" },
  RATE_LIMIT: { meaning: "requests a second for each API key, 1 to 1,000,000" },
  OTEL_DENO: { meaning: "true sends OpenTelemetry data" },
  OTEL_DENO_CONSOLE: { meaning: "ignore sends no log records", default: "replace" },
  NO_COLOR: { meaning: "any value turns colours off" },
  TMPDIR: { meaning: "folder for temporary files", default: "/tmp" },
  DENO_DEPLOYMENT_ID: { meaning: "set by Deno Deploy; the store is then the attached database" },
  DENO_KV_DEFAULT_PATH: { meaning: "set by Deno Deploy: the address of that database" },
  DENO_KV_PATH_PREFIX: { meaning: "set by Deno Deploy: the first part of that address" },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;

/** The variables of every program that opens the store. */
const STORE: VariableName[] = [
  "KV_PATH",
  "DENO_KV_ACCESS_TOKEN",
  "DATABASE_URL",
  "PGPASSWORD",
  "PGPASSFILE",
  "READS",
  "DENO_DEPLOYMENT_ID",
  "DENO_KV_DEFAULT_PATH",
  "DENO_KV_PATH_PREFIX",
];

/** The other variables of the service. */
const SERVICE: VariableName[] = [
  "PORT",
  "HOST",
  "CORS_ORIGINS",
  "PUBLIC_URL",
  "STAGING_URL",
  "CONTACT",
  "RATE_LIMIT",
  "OTEL_DENO",
  "OTEL_DENO_CONSOLE",
];

/** Describes the variables of the service for its `--help`. */
export function serviceVariables(): string {
  return describe([...STORE, ...SERVICE]);
}

/** Describes the variables of a tool for its `--help`: those of every tool, and its own. */
export function commandVariables(...own: VariableName[]): string {
  return describe([...STORE, "OTEL_DENO", ...own]);
}

/** The lines of these variables, in the order of the table. */
function describe(names: VariableName[]): string {
  const width = Math.max(...names.map((name) => name.length));
  const lines = Object.entries<Variable>(VARIABLES)
    .filter(([name]) => (names as string[]).includes(name))
    .map(([name, { meaning, default: value }]) => {
      const suffix = value === undefined ? "" : ` (default: ${value})`;
      return `  ${name.padEnd(width)}   ${meaning}${suffix}`;
    });
  return ["Environment variables:", ...lines].join("\n");
}
