/** Opens a connection to one server: its address, its encryption, its password, and what its refusals mean. */

import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import PgClient from "pg/lib/client.js";
import { shellWord } from "../../runtime/shell_word.ts";
import { words } from "../../words.ts";
import { StoreAwayError, StoreError, StoreRefusedError } from "../store_errors.ts";
import { type Client, Connection, isServerError } from "./connection.ts";
import {
  type DatabaseHost,
  isSocket,
  type PostgresSettings,
  type SslMode,
} from "./database_url.ts";
import type { Program } from "./program.ts";
import { readPassfile } from "./passfile.ts";

/** Rejects with `StoreRefusedError` if waiting does not help, and otherwise with `StoreAwayError`. */
export async function openConnection(
  settings: PostgresSettings & Program,
  host: DatabaseHost,
  signal: AbortSignal,
): Promise<Connection> {
  const { database, user, passfile, sslMode } = settings;
  const { hostname, port } = host;
  const application_name = settings.program;
  // Called if the server asks for a password.
  const password = async () => {
    if (settings.password) return settings.password;
    if (passfile) return await readPassfile(passfile, host, settings);
    const places = `${words().password} or ${words().passfile}`;
    throw new StoreRefusedError(`it asks for a password; set ${places}`);
  };
  try {
    const endpoint = { application_name, host: hostname, port, database, user, password };
    // As in libpq, a Unix socket has no TLS, whatever `sslmode` is.
    const ssl = isSocket(host) ? false : await tlsOf(settings);
    return await connect({ ...endpoint, ssl }, signal).catch((error) => {
      if (sslMode !== "prefer" || !isWithoutTls(error)) throw error;
      return connect({ ...endpoint, ssl: false }, signal);
    });
  } catch (error) {
    throw connectError(error, settings);
  }
}

async function connect(endpoint: object, signal: AbortSignal): Promise<Connection> {
  const stream = new Socket();
  const options = { keepAlive: true, connectionTimeoutMillis: 0 };
  const client: Client = new PgClient({ ...endpoint, ...options, stream, pipeline: true });
  const connection = new Connection(client, stream);
  return await closeUnlessOpened(signal, () => connection.close(), async () => {
    await client.connect();
    signal.throwIfAborted();
    client.on("notice", (notice) => connection.noteNotice(notice));
    return connection;
  });
}

/** Opens something. If this fails, or the signal aborts meanwhile, closes what is open already. */
export async function closeUnlessOpened<T>(
  signal: AbortSignal,
  close: () => void,
  open: () => Promise<T>,
): Promise<T> {
  signal.addEventListener("abort", close);
  try {
    signal.throwIfAborted();
    return await open();
  } catch (error) {
    close();
    throw error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Options of each mode; `false` for clear text. */
const TLS: Record<SslMode, false | ConnectionOptions> = {
  "disable": false,
  "prefer": { rejectUnauthorized: false },
  "require": { rejectUnauthorized: false },
  "verify-ca": { checkServerIdentity: () => undefined },
  "verify-full": {},
};

async function tlsOf({ sslMode, sslRootCert }: PostgresSettings) {
  const ssl = TLS[sslMode];
  if (ssl === false || sslRootCert === undefined) return ssl;
  const ca = await readFile(sslRootCert, "utf8").catch((cause) => {
    throw new StoreRefusedError("the file of sslrootcert cannot be read", { cause });
  });
  return { ...ssl, ca };
}

/** pg's own message; the error has no code. */
function isWithoutTls(error: unknown): boolean {
  return error instanceof Error && error.message.includes("does not support SSL");
}

/** Types the error of a connection. Waiting helps unless the server refuses the role or the database. */
function connectError(error: unknown, { database, user }: PostgresSettings): StoreError {
  if (error instanceof StoreError) return error;
  const { message } = error as Error;
  const code = isServerError(error) ? error.code : undefined;
  if (code === "3D000") {
    const make = `createdb --owner ${shellWord(user)} ${shellWord(database)}`;
    return new StoreRefusedError(
      `there is no database ${database}; make it as an administrator of the server: ${make}`,
    );
  }
  if (code === "28P01") {
    return new StoreRefusedError(`it refuses the password of the role ${user}`);
  }
  if (code === undefined && /certificate|altnames/i.test(message)) {
    return new StoreRefusedError(`its certificate is refused: ${message}`);
  }
  const isRefused = isWithoutTls(error) || /^(28|42)/.test(code ?? "");
  return isRefused ? new StoreRefusedError(message) : new StoreAwayError(message);
}
