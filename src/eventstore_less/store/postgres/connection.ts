import type { Socket } from "node:net";
import {
  NotAppliedError,
  StoreAwayError,
  type StoreError,
  StoreFullError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store_errors.ts";

/** Bytes are sent in binary. */
export type Parameter = string | number | null | Uint8Array;

/** The columns of a row, as text. */
export type Row = (string | null)[];

/** The used part of pg's client. It has no types of its own, and its @types would add Node's globals. */
export interface Client {
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

/** One connection to one server, which executes statements in their order, and types their errors. */
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

  /** Called with each notice after the log-in. The result of a statement whose wait was cancelled is not reliable. */
  noteNotice(notice: Notice): void {
    if (isOfCancelledWait(notice)) this.close();
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
      if (code === DISK_FULL && Lost === UnclearOutcomeError) throw new StoreFullError();
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

export function isServerError(error: unknown): error is ServerError {
  return error instanceof Error && "severity" in error && "code" in error;
}

/**
 * Whether a notice may say that a statement's wait for the standby was cancelled. The statement then reports success.
 * The message is translated, but the name of the server's function is not. Other warnings are harmless.
 */
function isOfCancelledWait({ code = "", routine }: Notice): boolean {
  if (routine === undefined) return code !== "00000";
  return routine === "SyncRepWaitForLSN" || code.startsWith("57P");
}
