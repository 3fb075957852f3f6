import {
  ConfigError,
  readDevConfig,
  readServiceConfig,
  readStoreConfig,
  type ServiceConfig,
  type StoreConfig,
} from "../../src/settings/config.ts";
import type { StoreLocation } from "../../src/store/store_location.ts";
import { hostName, type PostgresSettings } from "../../src/store/postgres/database_url.ts";
import { parseHttpAddress } from "../../src/runtime/network_address.ts";
import denoJson from "../../deno.json" with { type: "json" };
import { type Command, type CommandName, COMMANDS, type Grant, optionsOf } from "./commands.ts";
import { assertNever } from "../../events/assert_never.ts";
import { VARIABLES } from "../../src/settings/variables.ts";

/** Name of the set in deno.json with the permissions that every program needs, whatever its settings. */
const PERMISSION_SET = "program";

/** Deno Deploy returns the hosts of a database at run time, so they cannot be listed here. */
const DENO_DEPLOY_HOST = "api.deno.com";

/** Variables that pg reads on its own. They are hidden, so that only our settings count. */
const VARIABLES_OF_PG = [
  "PGBINARY",
  "PGCLIENT_ENCODING",
  "PGOPTIONS",
  "PGREPLICATION",
  "PGSSLNEGOTIATION",
];

interface Grants {
  /** Files and folders to read. */
  read: string[];
  /** Files and folders to read and write. */
  write: string[];
  /** `host:port`, `host` for all its ports, or `*` for every host. */
  net: string[];
  /** Variables that are unset for the program. */
  hidden: string[];
}

/**
 * The flags of `deno run` for a command. They allow only its store, the files and addresses that its arguments
 * name and, if it is a server, its own port.
 */
export async function permissionFlags(name: CommandName, args: string[]): Promise<string[]> {
  const grants: Grants = { read: [], write: [], net: [], hidden: [] };
  const reader = { start: readServiceConfig, dev: readDevConfig }[name as string];
  const config = readUsable<StoreConfig | ServiceConfig>(reader ?? readStoreConfig);
  if (config !== undefined) {
    grantStore(grants, config.store);
    if ("port" in config) grantPort(grants, config);
    // The development key of a store at an address is in the folder of the default store.
    if (name === "dev") grants.write.push(folderOf(VARIABLES.KV_PATH.default));
  }
  if (args.length > 0) await grantArguments(grants, COMMANDS[name], args);
  const { read, net, hidden } = grants;
  const write = grants.write.filter((path) => !isOfProject(path));
  return [
    // Otherwise Deno warns on every start that permission sets are experimental.
    "--quiet",
    "--no-prompt",
    `--permission-set=${PERMISSION_SET}`,
    ...pathFlag("--allow-read", [...read, ...grants.write]),
    ...pathFlag("--allow-write", write),
    ...(net.includes("*") ? ["--allow-net"] : listFlag("--allow-net", net)),
    ...listFlag("--ignore-env", hidden),
  ];
}

/** The settings; `undefined` if they are invalid, because the program itself then reports why and exits. */
function readUsable<Config>(read: () => Config): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
}

function grantStore(grants: Grants, store: StoreLocation): void {
  const { write, net } = grants;
  switch (store.kind) {
    case "file":
      // SQLite keeps its own files next to the store, and the first start creates the folder.
      write.push(folderOf(store.path));
      return;
    case "kv_connect": {
      const url = new URL(store.address);
      net.push(url.hostname === DENO_DEPLOY_HOST ? "*" : hostOf(url));
      return;
    }
    case "postgres":
      return grantDatabase(grants, store.settings);
  }
}

function grantDatabase({ read, net, hidden }: Grants, settings: PostgresSettings): void {
  net.push(...settings.hosts.map(hostName));
  for (const file of [settings.sslRootCert, settings.passfile]) if (file) read.push(file);
  hidden.push(...VARIABLES_OF_PG);
}

function hostOf({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

function grantPort({ net }: Grants, { hostname, port }: ServiceConfig): void {
  if (hostname === undefined) return;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  // The port that the system chooses for 0 is not known yet, and the server may have to listen on it again.
  net.push(port === 0 ? host : `${host}:${port}`);
}

/** Grants what arguments name. Ignores wrong ones, because the command itself reports them. */
async function grantArguments(grants: Grants, command: Command, args: string[]): Promise<void> {
  // Imported only here, because Node's modules would add some 10 ms to every start.
  const { parseArgs } = await import("node:util");
  const options = optionsOf(command);
  const parsed = parseArgs({ args, options, allowPositionals: true, strict: false });
  const values: Record<string, unknown> = { ...parsed.values };
  command.positionals?.forEach((word, index) => values[word] = parsed.positionals[index]);
  for (const [name, grant] of Object.entries(command.grants ?? {})) {
    for (const value of [values[name]].flat()) {
      // A flag without its value is `true`.
      if (typeof value === "string" && value !== "") grantArgument(grants, grant, value);
    }
  }
}

function grantArgument({ read, write, net }: Grants, grant: Grant, value: string): void {
  switch (grant) {
    case "read":
      if (value !== "-") read.push(value);
      return;
    case "write":
      write.push(value);
      return;
    case "replace":
      // The new file is written under another name and then renamed.
      write.push(folderOf(value));
      return;
    case "export":
      if (value !== "-") read.push(value);
      // An export that can be read only once is copied to a temporary file.
      if (isCopied(value)) write.push(Deno.env.get("TMPDIR") || "/tmp");
      return;
    case "connect": {
      const url = parseHttpAddress(value);
      if (url !== undefined) net.push(hostOf(url));
      return;
    }
    default:
      assertNever(grant);
  }
}

function isCopied(file: string): boolean {
  try {
    return !Deno.statSync(file).isFile;
  } catch {
    return file === "-";
  }
}

/** Paths that no program may write. The project is the current folder of every task. */
const OWN_PATHS = denoJson.permissions.program.write.deny.map((path) => realPath(`./${path}`));

/** Whether a path is one of the project's own files or folders, or in one of them. */
function isOfProject(path: string): boolean {
  const real = realPath(path);
  return OWN_PATHS.some((own) => real === own || real.startsWith(`${own}/`));
}

/** The absolute path of a file that need not exist, without symbolic links, `..` and repeated slashes. */
function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    const folder = folderOf(path);
    const name = path.replace(/\/+$/, "").replace(/.*\//s, "");
    if (folder === path || name === "") return path;
    // Deno removes `..` without a look at the file system.
    const parent = realPath(folder);
    return name === ".." ? folderOf(parent) : name === "." ? parent : `${parent}/${name}`;
  }
}

/** Deno splits the value at each comma, so a path with a comma is granted with its parent folder. */
function pathFlag(flag: string, paths: string[]): string[] {
  return listFlag(
    flag,
    paths.map((path) => {
      while (path.includes(",")) path = folderOf(path);
      return path;
    }),
  );
}

function listFlag(flag: string, values: string[]): string[] {
  return values.length === 0 ? [] : [`${flag}=${[...new Set(values)].join(",")}`];
}

function folderOf(path: string): string {
  return path.replace(/\/*[^/]*\/*$/, "") || (path.startsWith("/") ? "/" : ".");
}
