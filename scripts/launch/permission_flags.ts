import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import denoJson from "../../deno.json" with { type: "json" };
import { parseHttpAddress } from "../../src/runtime/network_address.ts";
import {
  ConfigError,
  readDevConfig,
  readServiceConfig,
  readStoreConfig,
  type ServiceConfig,
} from "../../src/settings/config.ts";
import { VARIABLES } from "../../src/settings/variables.ts";
import { hostName } from "../../src/store/postgres/database_url.ts";
import { type Command, type CommandName, COMMANDS, type Grant, optionsOf } from "./commands.ts";

/** The paths, hosts and facilities that a program may access. A host is `host:port`, `host` for all its ports, or `*` for all. */
type Access = Record<"read" | "write" | "net" | "sys", string[]>;

/** The flags of `deno run` for a command: they allow only its store, what its arguments name, and its own port. */
export function permissionFlags(name: CommandName, args: string[]): string[] {
  const access: Access = { read: [], write: [], net: [], sys: [] };
  grantSettings(access, name);
  grantArguments(access, COMMANDS[name], args);
  const { read, write, net, sys } = access;
  return [
    // Otherwise Deno warns on every start that permission sets are experimental.
    "--quiet",
    "--no-prompt",
    // The permissions that every program needs, whatever its settings.
    "--permission-set=program",
    // Variables that pg reads on its own. They are hidden, so that only our settings count.
    "--ignore-env=PGBINARY,PGCLIENT_ENCODING,PGOPTIONS,PGREPLICATION,PGSSLNEGOTIATION",
    ...listFlag("--allow-read", [...read, ...write].map(withoutComma)),
    ...listFlag("--allow-write", write.filter((path) => !isOfProject(path)).map(withoutComma)),
    ...(net.includes("*") ? ["--allow-net"] : listFlag("--allow-net", net)),
    ...listFlag("--allow-sys", sys),
  ];
}

/** Grants nothing if the settings are not valid, because the program itself then reports why and exits. */
function grantSettings({ read, write, net, sys }: Access, name: CommandName): void {
  let config: ReturnType<typeof readStoreConfig> & Partial<ServiceConfig>;
  try {
    const readConfig = { start: readServiceConfig, dev: readDevConfig }[name as string];
    config = (readConfig ?? readStoreConfig)();
  } catch (error) {
    if (error instanceof ConfigError) return;
    throw error;
  }
  const { store, hostname, port, metrics, processes = 1 } = config;
  if (store.kind === "file") {
    // SQLite keeps its own files next to the store, and the first start creates the folder.
    write.push(dirname(store.path));
  } else if (store.kind === "kv_connect") {
    const url = new URL(store.address);
    // Deno Deploy returns the hosts of a database at run time.
    net.push(url.hostname === "api.deno.com" ? "*" : hostOf(url));
  } else if (store.kind === "postgres") {
    const { hosts, sslRootCert, passfile } = store.settings;
    net.push(...hosts.map(hostName));
    for (const file of [sslRootCert, passfile]) if (file) read.push(file);
  }
  // The development key of a store at an address is in the folder of the default store.
  if (name === "dev") write.push(dirname(VARIABLES.KV_PATH.default));
  for (let number = 0; metrics !== undefined && number < processes; number++) {
    net.push(hostName({ ...metrics, port: metrics.port + number }));
    // For the free space of the disk.
    if (store.kind === "file") sys.push("statfs");
  }
  if (hostname === undefined) return;
  // The port that the system chooses for 0 is not known yet, and the server may have to listen on it again.
  net.push(hostName({ hostname, port: port! }).replace(/:0$/, ""));
}

function hostOf({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}

/** Grants what arguments name. Ignores wrong ones, because the command itself reports them. */
function grantArguments(access: Access, command: Command, args: string[]): void {
  const options = optionsOf(command);
  const parsed = parseArgs({ args, options, allowPositionals: true, strict: false });
  for (const [name, grant] of Object.entries(command.grants ?? {})) {
    const index = command.positionals?.indexOf(name) ?? -1;
    for (const value of [parsed.values[name] ?? parsed.positionals[index]].flat()) {
      // A flag without its value is `true`.
      if (typeof value === "string" && value !== "") grantArgument(access, grant, value);
    }
  }
}

function grantArgument({ read, write, net }: Access, grant: Grant, value: string): void {
  if (grant === "connect") {
    const url = parseHttpAddress(value);
    if (url !== undefined) net.push(hostOf(url));
  } else if (grant === "write") write.push(value);
  // The new file is written under another name and then renamed.
  else if (grant === "replace") write.push(dirname(value));
  else if (value !== "-") read.push(value);
  // An export that can be read only once is copied to a temporary file.
  if (grant === "export" && isCopied(value)) write.push(Deno.env.get("TMPDIR") || "/tmp");
}

function isCopied(file: string): boolean {
  try {
    return file === "-" || !Deno.statSync(file).isFile;
  } catch {
    return false;
  }
}

/** Whether a path is one that no program may write, or in one. The project is the current folder of every task. */
function isOfProject(path: string): boolean {
  const real = `${realPath(path)}/`;
  return denoJson.permissions.program.write.deny.some((own) =>
    real.startsWith(`${realPath(own)}/`)
  );
}

/** The absolute path of a file that need not exist. Deno itself removes `..` without a look at symbolic links. */
function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}

/** Deno splits the value at each comma, so a path with a comma is granted with its parent folder. */
function withoutComma(path: string): string {
  return path.includes(",") ? withoutComma(dirname(path)) : path;
}

function listFlag(flag: string, values: string[]): string[] {
  return values.length === 0 ? [] : [`${flag}=${[...new Set(values)].join(",")}`];
}
