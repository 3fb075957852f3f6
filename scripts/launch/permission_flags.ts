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
import { devKeyPath } from "../dev/dev_key_path.ts";

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
 * The flags of `deno run` for a program, given by its path in the project. They allow only its store, the
 * files that its arguments name and, if it is a server, its own port.
 */
export async function permissionFlags(module: string, args: string[]): Promise<string[]> {
  const grants: Grants = { read: [], write: [], net: [], hidden: [] };
  const isDevServer = module === "scripts/dev/dev_server.ts";
  const isServer = module === "src/main.ts" || isDevServer;
  const config = readUsable<StoreConfig | ServiceConfig>(
    isDevServer ? readDevConfig : isServer ? readServiceConfig : readStoreConfig,
  );
  if (config !== undefined) {
    grantStore(grants, config.store);
    if ("port" in config) grantPort(grants, config);
    const keyPath = isDevServer ? devKeyPath(config.store) : undefined;
    if (keyPath !== undefined) grants.write.push(folderOf(keyPath));
  }
  if (module === "scripts/audit/main.ts") await grantAudit(grants, args);
  if (module === "scripts/backup/main.ts") await grantBackup(grants, args);
  if (module === "scripts/report/main.ts") await grantReport(grants, args);
  if (module === "scripts/restore/main.ts") await grantRestore(grants, args);
  if (module === "scripts/publish/main.ts") await grantPublish(grants, args);
  if (module === "scripts/prove/main.ts") await grantProve(grants, args);
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

async function grantAudit({ read, write }: Grants, args: string[]): Promise<void> {
  const { checkpoint, published, file } = (await parse(args)).values;
  if (file && file !== "-") read.push(file);
  if (published) read.push(published);
  // The new checkpoint is written to a file next to the old one and then renamed.
  if (checkpoint) write.push(folderOf(checkpoint));
}

async function grantBackup({ write }: Grants, args: string[]): Promise<void> {
  const [file] = (await parse(args)).positionals;
  if (file) write.push(file);
}

async function grantReport({ read }: Grants, args: string[]): Promise<void> {
  const { file } = (await parse(args)).values;
  if (file && file !== "-") read.push(file);
}

async function grantRestore({ read, write }: Grants, args: string[]): Promise<void> {
  const [file] = (await parse(args)).positionals;
  // The tool itself rejects an empty name.
  if (!file) return;
  if (file !== "-") read.push(file);
  // An export that can be read only once is copied to a temporary file.
  if (isCopied(file)) write.push(Deno.env.get("TMPDIR") || "/tmp");
}

async function grantPublish({ read, write, net }: Grants, args: string[]): Promise<void> {
  const { values, positionals: [folder], witnesses } = await parse(args);
  if (folder) write.push(folder);
  const newKey = values["new-key"];
  if (newKey) write.push(newKey);
  for (const file of [values.key, values["from-file"]]) if (file && file !== "-") read.push(file);
  for (const witness of witnesses) {
    const url = parseHttpAddress(witness);
    if (url !== undefined) net.push(hostOf(url));
  }
}

async function grantProve({ read, write }: Grants, args: string[]): Promise<void> {
  const { published, consistency, line, "from-file": file } = (await parse(args)).values;
  for (const path of [published, consistency]) if (path) read.push(path);
  if (file && file !== "-") read.push(file);
  if (line) write.push(line);
}

/** Parses arguments as the tools do, but ignores errors: the tools report them. */
async function parse(args: string[]) {
  // Imported only here, because Node's modules would add some 10 ms to every start.
  const { parseArgs } = await import("node:util");
  const names = ["checkpoint", "file", "published", "key", "new-key", "origin", "from-file"];
  names.push("witness", "witness-vkey", "consistency", "line");
  const { values, positionals } = parseArgs({
    args,
    options: Object.fromEntries(names.map((name) => [name, { type: "string", multiple: true }])),
    allowPositionals: true,
    strict: false,
  });
  /** All values of each flag; a flag without one counts as empty. */
  const texts = (name: string) =>
    [values[name] ?? []].flat().filter((value) => typeof value === "string");
  return {
    values: Object.fromEntries(names.map((name) => [name, texts(name).at(-1)])),
    witnesses: texts("witness"),
    positionals,
  };
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
