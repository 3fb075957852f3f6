/** The address of a PostgreSQL database, as libpq's connection URIs name it. */

import { isIPv6 } from "node:net";

/** How the connection is encrypted and the server is verified; the words are libpq's. */
export type SslMode = typeof SSL_MODES[number];

const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"] as const;

export interface DatabaseHost {
  /** A name or an IP address, without brackets. */
  hostname: string;
  port: number;
}

export interface DatabaseAddress {
  /** The servers, of which one is the primary. */
  hosts: DatabaseHost[];
  database: string;
  user: string;
  password: string | undefined;
  sslMode: SslMode;
  /** A file with the certificates of authorities, in PEM. */
  sslRootCert: string | undefined;
}

export interface PostgresSettings extends DatabaseAddress {
  /** A file of passwords, in the format of ~/.pgpass. Used if `password` is not set. */
  passfile: string | undefined;
  /** Whether every read of the head proves that its server is still the primary. */
  strictReads: boolean;
}

/** The name of a database in messages, without a secret: `database pets on a:5432,b:5432`. */
export function databaseName({ hosts, database }: DatabaseAddress): string {
  return `database ${database} on ${hosts.map(hostName).join(",")}`;
}

export function hostName({ hostname, port }: DatabaseHost): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}

const PARAMETERS = ["sslmode", "sslrootcert", "target_session_attrs"];

const EXAMPLE = "postgres://user@host:5432/database";
const OR_PGPASSWORD = "or leave the password out and set PGPASSWORD";

/** The credentials and hosts, the database, and the parameters. */
const URL_PATTERN = /^postgres(?:ql)?:\/\/([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/i;

const HOST_PATTERN = /^(\[[^\]]*\]|[^:]*)(?::([^:]*))?$/;
const NAME_PATTERN = /^(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?$/;

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=…&sslrootcert=…`. Throws `TypeError`.
 * Its message follows the name of the variable and repeats nothing that may be a password.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  expectNoReservedCharacters(text);
  const [, authority, database, query] = URL_PATTERN.exec(text) ??
    fail(`must begin with postgres://, as in ${EXAMPLE}`);
  const [hostList, credentials] = authority.split("@").reverse();
  const [user, ...rest] = (credentials ?? "").split(":");
  if (user === "") fail(`must name a user before an @, as in ${EXAMPLE}`);
  if (hostList === "") fail(`must name a host after the @, as in ${EXAMPLE}`);
  if (!database) fail(`must name a database after the host, as in ${EXAMPLE}`);
  if (database.includes("/")) fail("has a / in the name of the database; write %2F for it");
  return {
    hosts: hostList.split(",").map(parseHost),
    database: decode(database),
    user: decode(user),
    password: rest.length === 0 ? undefined : decode(rest.join(":")),
    ...parseParameters(query),
  };
}

/** Refuses characters that end a part of the address, but that look as if they were meant to be in a password. */
function expectNoReservedCharacters(text: string): void {
  if (text.includes("%00")) fail("must not contain %00");
  if (/[\s\p{Cc}]/u.test(text)) fail("has a space or a line break; write %20 for a space");
  if (text.includes("#")) fail(`has a #; in a password, write %23, ${OR_PGPASSWORD}`);
  const [, ...afterSlash] = text.replace(/^[^/]*\/\//, "").split(/[/?]/);
  if (afterSlash.some((part) => part.includes("@"))) {
    fail(
      `has a / or ? before an @; in a password, write %2F for / and %3F for ?, ${OR_PGPASSWORD}`,
    );
  }
  if (text.split("@").length > 2) {
    fail(`has more than one @; in a password, write %40 for @, ${OR_PGPASSWORD}`);
  }
}

function parseHost(text: string): DatabaseHost {
  const [, name, port = "5432"] = HOST_PATTERN.exec(text) ??
    fail("has a host with several colons; write an IPv6 address in brackets, as in [::1]:5432");
  if (name === "") fail("has an empty host; name one before and after each comma");
  const address = /^\[(.*)\]$/.exec(name)?.[1];
  if (address !== undefined && !isIPv6(address)) fail("has brackets without an IPv6 address");
  if (address === undefined && !NAME_PATTERN.test(name)) {
    fail("has a host that is neither a name nor an address");
  }
  const isPort = /^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  if (!isPort) fail("must have a port from 1 to 65535 after the colon of a host");
  return { hostname: address ?? name, port: Number(port) };
}

function parseParameters(query = ""): Pick<DatabaseAddress, "sslMode" | "sslRootCert"> {
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
  return tlsOf(parameters.get("sslmode") ?? "prefer", parameters.get("sslrootcert"));
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
