/** The address of a PostgreSQL database, as libpq's connection URIs name it. */

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

const URL_PATTERN = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^@/?#]*)\/([^/?#]+)(?:\?([^#]*))?$/i;

const HOST_PATTERN = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i;

/**
 * Parses `postgres://USER:PASSWORD@HOST:PORT,HOST:PORT/DATABASE?sslmode=…&sslrootcert=…`. Throws `TypeError`.
 * Its message follows the name of the variable and repeats nothing that may be a password.
 */
export function parseDatabaseUrl(text: string): DatabaseAddress {
  if (text.includes("%00")) fail("must not contain %00");
  const [, credentials = "", hostList, database, query = ""] = URL_PATTERN.exec(text) ??
    fail("must be like postgres://user@host:5432/database");
  const [user, ...rest] = credentials.split(":");
  if (user === "") fail("must name a user: postgres://user@host:5432/database");
  return {
    hosts: hostList.split(",").map(parseHost),
    database: decode(database),
    user: decode(user),
    password: rest.length === 0 ? undefined : decode(rest.join(":")),
    ...parseParameters(query),
  };
}

function parseHost(text: string): DatabaseHost {
  const [, address, name, port = "5432"] = HOST_PATTERN.exec(text) ?? [];
  const hostname = address ?? name;
  if (hostname === undefined) {
    fail("must name a host, or hosts separated by commas, each with or without a port");
  }
  if (Number(port) < 1 || Number(port) > 65_535) fail("must name ports from 1 to 65535");
  return { hostname, port: Number(port) };
}

function parseParameters(query: string): Pick<DatabaseAddress, "sslMode" | "sslRootCert"> {
  let sslMode: SslMode = "prefer";
  let sslRootCert: string | undefined;
  for (const [name, value] of new URLSearchParams(query)) {
    if (name === "sslmode") {
      sslMode = SSL_MODES.find((mode) => mode === value) ??
        fail(`must have an sslmode of ${SSL_MODES.join(", ")}`);
    } else if (name === "sslrootcert") {
      // The certificates of the system are used without a file, too.
      if (value !== "" && value !== "system") sslRootCert = value;
    } else if (name === "target_session_attrs") {
      if (value === "primary" || value === "read-write") continue;
      fail("must not select a standby by target_session_attrs");
    } else {
      // Another name may be part of a password that contains a question mark.
      const shown = /^[a-z_]+$/.test(name) ? ` "${name}"` : "";
      fail(`has a parameter${shown}, but only sslmode and sslrootcert are known`);
    }
  }
  if (sslRootCert !== undefined) {
    // As in libpq.
    if (sslMode === "require") sslMode = "verify-ca";
    if (!sslMode.startsWith("verify-")) fail("must have sslmode=verify-full if it has sslrootcert");
  }
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
