/** The environment variables of all commands, as `--help` lists them. */

export interface Variable {
  meaning: string;
  default?: string;
  /** Whether a program on Node does not read it. */
  needsDeno?: boolean;
}

export const VARIABLES = {
  PORT: { meaning: "port to listen on; 0 takes a free one and logs it", default: "8000" },
  HOST: { meaning: "address to listen on", default: "0.0.0.0" },
  PROCESSES: { meaning: "processes that serve, 1 to 64; auto: one for each core", default: "1" },
  METRICS_PORT: { meaning: "port for Prometheus; each further process takes the next one" },
  METRICS_HOST: { meaning: "address to listen on for Prometheus", default: "127.0.0.1" },
  KV_PATH: {
    meaning: "the store: a file or :memory:; on Deno also an http(s) address",
    default: ".data/pets.sqlite3",
  },
  DENO_KV_ACCESS_TOKEN: {
    meaning: "token of the KV Connect server, if KV_PATH is an address",
    needsDeno: true,
  },
  DATABASE_URL: {
    meaning:
      "a PostgreSQL database as the store: postgres://user@host:5432/database, or postgres:///database?host=/run/postgresql",
  },
  PGPASSWORD: { meaning: "password of the database, if DATABASE_URL has none" },
  PGPASSFILE: { meaning: "file with the password of the database, as ~/.pgpass" },
  READS: {
    meaning: "strict proves with each read that the database was not replaced",
    default: "primary",
  },
  NEW_STORE: {
    meaning: "make: a service makes a missing store, and starts on one without events",
    default: "refuse",
  },
  CORS_ORIGINS: {
    meaning: "origins whose scripts may call the API from a browser, separated by commas",
  },
  PUBLIC_URL: {
    meaning: "address for clients, used in links and in the API description; ends in /v1",
  },
  STAGING_URL: { meaning: "address of the staging service, shown in the API description" },
  RATE_LIMIT: {
    meaning:
      "requests per second for each API key, 1 to 1,000,000, in each process; a burst may have twice as many",
  },
  ACCESS_LOG: { meaning: "true logs a line for each response, but for probes that succeed" },
  TRUSTED_PROXIES: {
    meaning: "addresses and networks of your proxies, whose X-Forwarded-For names the client",
  },
  WEBHOOK_KEY: {
    meaning:
      "key for the secrets of webhooks, 32 bytes in base64, or a new and an old one, separated by a comma; without it, webhooks are off",
  },
  WEBHOOK_ALLOW: {
    meaning:
      "private addresses and networks that webhooks may have, also without TLS, such as 127.0.0.1, 192.168.1.0/24",
  },
  NO_COLOR: { meaning: "any value turns colours off" },
  TMPDIR: { meaning: "folder for temporary files", default: "/tmp" },
  DENO_DEPLOYMENT_ID: {
    meaning: "set by Deno Deploy; the store is then the attached database",
    needsDeno: true,
  },
  DENO_KV_DEFAULT_PATH: {
    meaning: "set by Deno Deploy: the address of that database",
    needsDeno: true,
  },
  DENO_KV_PATH_PREFIX: {
    meaning: "set by Deno Deploy: the first part of that address",
    needsDeno: true,
  },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;

/** The variables by which programs of this project tell each other how they were started. No help names them. */
export const INTERNAL_VARIABLES = {
  SUPERVISED_PROCESS: "the number of a process of the supervisor, from 1 on",
  SUPERVISOR_PID: "the process id of the supervisor",
  CALLED_AS: "the name of the program that runs the commands, such as pets",
} as const;

export type InternalVariableName = keyof typeof INTERNAL_VARIABLES;

/** The variables that the runtimes read, and not the service. */
const OF_RUNTIMES: readonly string[] = ["NO_COLOR", "TMPDIR"];

/** The variables of the service. */
export const SERVICE_VARIABLES: VariableName[] = (Object.keys(VARIABLES) as VariableName[])
  .filter((name) => !OF_RUNTIMES.includes(name));

/** The variables of every command that opens the store. */
export const STORE_VARIABLES: VariableName[] = SERVICE_VARIABLES
  .filter((name) => /^(KV_|DENO_|DATABASE_|PGPASS)|^READS$/.test(name));

/** The defaults of a development server that differ from those in the table. */
export const DEV_DEFAULTS = {
  HOST: "127.0.0.1",
  NEW_STORE: "make",
  WEBHOOK_ALLOW: "127.0.0.1, ::1",
} as const satisfies Partial<Record<VariableName, string>>;
