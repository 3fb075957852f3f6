/** The environment variables of all commands, as `--help` lists them. */

export const VARIABLES = {
  PORT: { meaning: "port to listen on; 0 takes a free one and logs it", default: "8000" },
  HOST: { meaning: "address to listen on", default: "0.0.0.0" },
  PROCESSES: { meaning: "processes that serve, 1 to 64; auto: one for each core", default: "1" },
  METRICS_PORT: { meaning: "port for Prometheus; each further process takes the next one" },
  METRICS_HOST: { meaning: "address to listen on for Prometheus", default: "127.0.0.1" },
  KV_PATH: {
    meaning: "the store: a file, :memory: or an http(s) address",
    default: ".data/pets.sqlite3",
  },
  DENO_KV_ACCESS_TOKEN: { meaning: "token of the KV Connect server, if KV_PATH is an address" },
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
  SUPERVISED_PROCESS: { meaning: "set by the supervisor: the number of the process, from 1" },
  SUPERVISOR_PID: { meaning: "set by the supervisor: its process id" },
  CALLED_AS: { meaning: "set by pets: its name, for messages that name a command" },
  NO_COLOR: { meaning: "any value turns colours off" },
  TMPDIR: { meaning: "folder for temporary files", default: "/tmp" },
  DENO_DEPLOYMENT_ID: { meaning: "set by Deno Deploy; the store is then the attached database" },
  DENO_KV_DEFAULT_PATH: { meaning: "set by Deno Deploy: the address of that database" },
  DENO_KV_PATH_PREFIX: { meaning: "set by Deno Deploy: the first part of that address" },
} as const satisfies Record<string, { meaning: string; default?: string }>;

export type VariableName = keyof typeof VARIABLES;

/** The defaults of a development server that differ from those in the table. */
export const DEV_DEFAULTS = {
  HOST: "127.0.0.1",
  NEW_STORE: "make",
} as const satisfies Partial<Record<VariableName, string>>;
