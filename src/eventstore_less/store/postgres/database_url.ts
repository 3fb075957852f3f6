/** The address of a PostgreSQL database, as libpq's connection URIs name it. */

import { Buffer } from "node:buffer";
import { isIPv6 } from "node:net";
import { userInfo } from "node:os";
import { reasonOf } from "../../runtime/logger.ts";
import { words } from "../../words.ts";

/** How the connection is encrypted and the server is verified; the words are libpq's. */
export type SslMode = "disable" | "prefer" | "require" | "verify-ca" | "verify-full";

const SSL_MODES: readonly SslMode[] = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/** A server of a database. */
export interface DatabaseHost {
  /** A name, an IP address without brackets, or the folder of a Unix socket. */
  hostname: string;
  /** The port, also that in the name of a Unix socket. */
  port: number;
}

/** What the URL of a database says. */
export interface DatabaseAddress {
  /** The servers, of which one is the primary. */
  hosts: DatabaseHost[];
  /** The name of the database. */
  database: string;
  /** The role that connects. */
  user: string;
  /** The password in the URL, if there is one. */
  password: string | undefined;
  /** Whether the connection is encrypted, and what is verified. */
  sslMode: SslMode;
  /** A file with the certificates of authorities, in PEM. */
  sslRootCert: string | undefined;
}

/** A database, and how to use it. */
export interface PostgresSettings extends DatabaseAddress {
  /** A file of passwords, in the format of ~/.pgpass. Used if `password` is not set. */
  passfile: string | undefined;
  /** Whether every read of the head proves that its server is still the primary. */
  strictReads: boolean;
}

/** The name of a database in messages, without a secret: `database users on a:5432,b:5432`. */
export function databaseName({ hosts, database }: DatabaseAddress): string {
  return `database ${database} on ${hosts.map(hostName).join(",")}`;
}

/** The name of a server in messages: `a:5432`, or the path of its Unix socket. */
export function hostName(host: DatabaseHost): string {
  if (isSocket(host)) return socketPath(host);
  const { hostname, port } = host;
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

/** Whether the server listens on a Unix socket. */
export function isSocket({ hostname }: DatabaseHost): boolean {
  return hostname.startsWith("/");
}

function socketPath({ hostname, port }: DatabaseHost): string {
  return `${hostname}/.s.PGSQL.${port}`;
}

/** Maximum length of the path of a Unix socket, which the system sets. */
const SOCKET_PATH_BYTES = 107;

const PARAMETERS = ["host", "port", "sslmode", "sslrootcert", "target_session_attrs"];

const EXAMPLE = "postgres://user@host:5432/database";
const SOCKET_EXAMPLE = "postgres:///database?host=/run/postgresql";
const orPassword = () => `or leave the password out and set ${words().password}`;

/** The credentials and hosts, the database, and the parameters. */
const URL_PATTERN = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/i;

const DEFAULT_PORT = "5432";
const HOST_PATTERN = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/;
const NAME_PATTERN = /^(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?$/;

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=…&sslrootcert=…`. A HOST may be the folder of a
 * Unix socket, also in `postgres://USER@/DATABASE?host=FOLDER&port=PORT`. Throws `TypeError`. Its message follows the
 * name of the variable and repeats nothing that may be a password.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  expectNoReservedCharacters(text);
  const [, authority, database, query] = URL_PATTERN.exec(text) ??
    fail(`must begin with postgres://, as in ${EXAMPLE}`);
  const [hostList, credentials] = authority.split("@").reverse();
  const [user, ...rest] = (credentials ?? "").split(":");
  const parameters = parseParameters(query);
  const hosts = parseHosts(hostList, parameters);
  const isLocal = hosts.every(isSocket);
  if (user === "" && !isLocal) fail(`must name a user before an @, as in ${EXAMPLE}`);
  if (!database) fail(`must name a database after the host, as in ${EXAMPLE}`);
  if (database.includes("/")) fail("has a / in the name of the database; write %2F for it");
  return {
    hosts,
    database: decode(database),
    user: user === "" ? systemUser() : decode(user),
    password: rest.length === 0 ? undefined : decode(rest.join(":")),
    ...tlsOf(parameters.get("sslmode") ?? "prefer", parameters.get("sslrootcert")),
  };
}

/** Refuses characters that end a part of the address, but that look as if they were meant to be in a password. */
function expectNoReservedCharacters(text: string): void {
  if (text.includes("%00")) fail("must not contain %00");
  if (/[\s\p{Cc}]/u.test(text)) fail("has a space or a line break; write %20 for a space");
  if (text.includes("#")) fail(`has a #; in a password, write %23, ${orPassword()}`);
  const [, ...afterSlash] = text.replace(/^[^/]*\/\//, "").split(/[/?]/);
  if (afterSlash.some((part) => part.includes("@"))) {
    fail(
      `has a / or ? before an @; in a password, write %2F for / and %3F for ?, ${orPassword()}`,
    );
  }
  if (text.split("@").length > 2) {
    fail(`has more than one @; in a password, write %40 for @, ${orPassword()}`);
  }
}

type Parameters = ReadonlyMap<string, string>;

/** The hosts, which are either before the database or in the parameters `host` and `port`. */
function parseHosts(hostList: string, parameters: Parameters): DatabaseHost[] {
  const [names, ports] = ["host", "port"].map((name) => parameters.get(name)?.split(","));
  if (names === undefined) {
    if (ports !== undefined) fail("has the parameter port without the parameter host; remove it");
    const orSocket = `or the folder of a Unix socket, as in ${SOCKET_EXAMPLE}`;
    if (hostList === "") fail(`must name a host after the @, as in ${EXAMPLE}, ${orSocket}`);
    return hostList.split(",").map(parseHost);
  }
  if (hostList !== "") fail("names hosts twice: after the @ and in the parameter host; remove one");
  if (ports === undefined) return names.map((name) => hostOf(name, DEFAULT_PORT));
  const isOne = ports.length === 1;
  if (!isOne && ports.length !== names.length) fail("must have one port, or one for each host");
  return names.map((name, index) => hostOf(name, ports[isOne ? 0 : index]));
}

function parseHost(text: string): DatabaseHost {
  const [, name, port = DEFAULT_PORT] = HOST_PATTERN.exec(text) ??
    fail("has a host with several colons; write an IPv6 address in brackets, as in [::1]:5432");
  const address = /^\[(.*)\]$/.exec(name)?.[1];
  if (address !== undefined && !isIPv6(address)) fail("has brackets without an IPv6 address");
  return hostOf(address ?? decode(name), port);
}

function hostOf(name: string, port: string): DatabaseHost {
  if (name === "") fail("has an empty host; name one before and after each comma");
  const isFolder = name.startsWith("/");
  if (!isFolder && !isIPv6(name) && !NAME_PATTERN.test(name)) {
    fail("has a host that is neither a name nor an address");
  }
  const isPort = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  if (!isPort) fail("must have a port from 1 to 65535 after the colon of a host");
  const hostname = isFolder ? name.replace(/(?<=.)\/+$/, "") : name;
  const host = { hostname, port: Number(port) };
  const isTooLong = isFolder && Buffer.byteLength(socketPath(host)) > SOCKET_PATH_BYTES;
  const tooLong = "has a folder for which the path of the Unix socket is longer than";
  if (isTooLong) fail(`${tooLong} ${SOCKET_PATH_BYTES} bytes`);
  return host;
}

/** The user of this process. As in libpq, it is the role in the database if the address names none. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch (error) {
    // In many containers, the user has only a number.
    fail(
      `must name a user before an @, because that of this process has no name: ${reasonOf(error)}`,
    );
  }
}

function parseParameters(query = ""): Parameters {
  const parameters = new Map<string, string>();
  for (const parameter of query.split("&").filter((it) => it !== "")) {
    const [name, ...value] = parameter.split("=");
    if (!PARAMETERS.includes(name)) {
      const shown = /^[a-z_]+$/.test(name) ? ` "${name}"` : "";
      fail(`has an unknown parameter${shown}; remove it (known are ${PARAMETERS.join(", ")})`);
    }
    if (parameters.has(name)) fail(`has the parameter ${name} twice; remove one`);
    parameters.set(name, decode(value.join("=")));
  }
  const attributes = parameters.get("target_session_attrs") ?? "primary";
  if (attributes !== "primary" && attributes !== "read-write") {
    fail("must not select a standby by target_session_attrs; remove it");
  }
  return parameters;
}

function tlsOf(mode: string, file: string | undefined) {
  const sslMode = SSL_MODES.find((it) => it === mode) ??
    fail(`must have an sslmode of ${SSL_MODES.join(", ")}`);
  // The certificates of the system are used without a file, too.
  const sslRootCert = file === "" || file === "system" ? undefined : file;
  if (sslRootCert === undefined) return { sslMode, sslRootCert };
  // As in libpq.
  if (sslMode === "require") return { sslMode: "verify-ca" as const, sslRootCert };
  if (!sslMode.startsWith("verify-")) fail("must have sslmode=verify-full if it has sslrootcert");
  return { sslMode, sslRootCert };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    fail("has a percent sign that does not begin an encoded character; write %25 for it");
  }
}

function fail(message: string): never {
  throw new TypeError(message);
}
