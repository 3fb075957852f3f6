import { DASHED_NAME } from "../../names.ts";
import { readFile } from "node:fs/promises";
import { Socket } from "node:net";
import type { ConnectionOptions } from "node:tls";
import PgClient from "pg/lib/client.js";
import {
  NotAppliedError,
  StoreAwayError,
  StoreError,
  StoreFullError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store_errors.ts";
import type { DatabaseHost, PostgresSettings, SslMode } from "./database_url.ts";
import { readPassfile } from "./passfile.ts";

/** Bytes are sent in binary. */
export type Parameter = string | number | Uint8Array | (string | number | null)[];

/** The columns of a row, as text. */
export type Row = (string | null)[];

/** The used part of pg's client. It has no types of its own, and its @types would add Node's globals. */
interface Client {
  connect(): Promise<void>;
  processID: number;
  query(query: object): Promise<{ rows: Row[] }>;
  on(event: "error" | "notice", listen: (notice: Notice) => void): void;
}

/** `code` is an SQLSTATE, 00000 for a mere notice; `routine` is the function of the server that reports it. */
type Notice = { code?: string; routine?: string };

/** An error that the server reports. Other errors have no `severity`, which the server translates. */
type ServerError = Error & { code: string; severity: string };

/** Columns are not parsed: pg would damage bytes, and would parse what nobody reads. */
const AS_TEXT = { rowMode: "array", types: { getTypeParser: () => (text: string) => text } };

/** One connection to one server, which executes statements in their order. */
export class Connection {
  #client: Client;
  #socket: Socket;
  isLost = false;

  constructor(client: Client, socket: Socket) {
    this.#client = client;
    this.#socket = socket;
    const lose = () => {
      this.isLost = true;
    };
    client.on("error", lose);
    socket.on("close", lose);
  }

  /** Rejects with `StoreRefusedError` if waiting does not help, and otherwise with `StoreAwayError`. */
  static async open(settings: PostgresSettings, host: DatabaseHost, signal: AbortSignal) {
    const { database, user, passfile, sslMode } = settings;
    const { hostname, port } = host;
    // Called if the server asks for a password.
    const password = async () => {
      let secret = settings.password;
      if (secret === undefined && passfile) secret = await readPassfile(passfile, host, settings);
      if (secret) return secret;
      throw new StoreRefusedError("it asks for a password; set PGPASSWORD or PGPASSFILE");
    };
    try {
      const endpoint = { host: hostname, port, database, user, password };
      const ssl = await tlsOf(settings);
      return await connect({ ...endpoint, ssl }, signal).catch((error) => {
        if (sslMode !== "prefer" || !isWithoutTls(error)) throw error;
        return connect({ ...endpoint, ssl: false }, signal);
      });
    } catch (error) {
      throw connectError(error, settings);
    }
  }

  /** The process of the connection, as it was announced: a pooler announces a number of its own. */
  get announcedPid(): number {
    return this.#client.processID;
  }

  /** Executes a statement without lasting effects, such as a read. The server prepares a statement with `values` once. */
  read(statement: string, values?: Parameter[]): Promise<Row[]> {
    return this.#run(statement, values, StoreAwayError);
  }

  write(statement: string, values?: Parameter[]): Promise<Row[]> {
    return this.#run(statement, values, UnclearOutcomeError);
  }

  /** Cancels nothing that was sent: a commit whose wait for the standby is cancelled would count as successful. */
  close(): void {
    this.#socket.destroy();
    this.isLost = true;
  }

  /** `Lost` is the type of the error if the connection is lost meanwhile. */
  async #run(
    statement: string,
    values: Parameter[] | undefined,
    Lost: new (message: string, options?: ErrorOptions) => StoreError,
  ): Promise<Row[]> {
    if (this.isLost) throw new StoreAwayError("The connection to the database is closed");
    try {
      const name = values === undefined ? undefined : nameOf(statement);
      const { rows } = await this.#client.query({ name, text: statement, values, ...AS_TEXT });
      // A warning before the result has closed the connection.
      if (this.isLost) throw new Error("The result is not reliable");
      return rows;
    } catch (error) {
      if (!isServerError(error)) {
        this.close();
        throw new Lost("The connection to the database was lost", { cause: error });
      }
      const { code } = error;
      const message = `The database reports: ${error.message}`;
      if (code === READ_ONLY || UNCLEAR.test(code)) this.close();
      if (code === DISK_FULL) throw new StoreFullError();
      if (NOT_APPLIED.test(code)) throw new NotAppliedError(message);
      throw UNCLEAR.test(code) ? new Lost(message) : new StoreRefusedError(message);
    }
  }
}

/** A name for a statement, which lets the server prepare it once for each connection. */
function nameOf(statement: string): string {
  const name = NAMES.get(statement) ?? `statement_${NAMES.size + 1}`;
  NAMES.set(statement, name);
  return name;
}

const NAMES = new Map<string, string>();

const DISK_FULL = "53100";

/** The server is a standby now. */
const READ_ONLY = "25006";

/** Serialization failure, deadlock, lock time-out, cancelled, read-only, lack of resources. */
const NOT_APPLIED = /^(40001|40P01|55P03|57014|25006|53...)$/;

/** The server failed, or ends the connection, perhaps after it has committed. The severity says nothing: it is translated. */
const UNCLEAR = /^(08|25P|57P|58|XX)/;

function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

async function connect(endpoint: object, signal: AbortSignal): Promise<Connection> {
  const stream = new Socket();
  const options = { application_name: DASHED_NAME, keepAlive: true, connectionTimeoutMillis: 0 };
  const client: Client = new PgClient({ ...endpoint, ...options, stream, pipeline: true });
  const connection = new Connection(client, stream);
  return await closeUnlessOpened(signal, () => connection.close(), async () => {
    await client.connect();
    signal.throwIfAborted();
    client.on("notice", (notice) => {
      if (isOfCancelledWait(notice)) connection.close();
    });
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

/**
 * Whether a notice may say that a statement's wait for the standby was cancelled. The statement then reports success.
 * The message is translated, but the name of the server's function is not. Other warnings are harmless.
 */
function isOfCancelledWait({ code = "", routine }: Notice): boolean {
  if (routine === undefined) return code !== "00000";
  return routine === "SyncRepWaitForLSN" || code.startsWith("57P");
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
  if (code === "3D000") return new StoreRefusedError(`there is no database ${database}`);
  if (code === "28P01") {
    return new StoreRefusedError(`it refuses the password of the role ${user}`);
  }
  if (code === undefined && /certificate|altnames/i.test(message)) {
    return new StoreRefusedError(`its certificate is refused: ${message}`);
  }
  const isRefused = isWithoutTls(error) || /^(28|42)/.test(code ?? "");
  return isRefused ? new StoreRefusedError(message) : new StoreAwayError(message);
}
