/** Types for the used part of pg, which has none of its own; its @types would add Node's globals. */

declare module "pg/lib/client.js" {
  import type { Socket } from "node:net";

  export interface ClientOptions {
    host: string;
    port: number;
    user: string;
    password: () => string;
    database: string;
    application_name: string;
    /** `false` for clear text. Otherwise options of `tls.connect()`. */
    ssl: false | {
      ca?: string;
      rejectUnauthorized?: boolean;
      checkServerIdentity?: () => undefined;
    };
    /** An unconnected socket. */
    stream: Socket;
    keepAlive: boolean;
    /** 0 for no limit. */
    connectionTimeoutMillis: number;
    /** Whether a query is sent while others are in flight. */
    pipeline: true;
  }

  export interface Query {
    /** The name of the prepared statement. */
    name?: string;
    text: string;
    /** Bytes are sent in binary. */
    values?: (string | number | Uint8Array)[];
    rowMode: "array";
    types: { getTypeParser(): (text: string) => string };
  }

  export interface Notice {
    /** SQLSTATE; 00000 for a mere notice. */
    code?: string;
    message: string;
    /** The function of the server's source that reports it. */
    routine?: string;
  }

  /** An error that the server reports. Other errors have no `severity`, which the server translates. */
  export interface ServerError extends Error {
    /** SQLSTATE. */
    code: string;
    severity: string;
  }

  export default class Client {
    constructor(options: ClientOptions);
    /** The server's process of this connection, and the key that allows to cancel its statement. */
    readonly processID: number | null;
    readonly secretKey: number | null;
    connect(): Promise<void>;
    query(query: Query): Promise<{ rows: (string | null)[][] }>;
    on(event: "error", listen: (error: Error) => void): void;
    on(event: "notice", listen: (notice: Notice) => void): void;
    end(): Promise<void>;
  }
}
