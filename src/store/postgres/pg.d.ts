/** Types for the used part of pg, which has none of its own; its @types would add Node's globals. */

declare module "pg/lib/client.js" {
  import type { Socket } from "node:net";
  import type { ConnectionOptions } from "node:tls";

  export interface ClientOptions {
    host: string;
    port: number;
    user: string;
    password: () => string;
    database: string;
    application_name: string;
    /** `false` for clear text. */
    ssl: false | ConnectionOptions;
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

  /** `code` is an SQLSTATE; 00000 for a mere notice. `routine` is the function of the server that reports it. */
  export type Notice = { code?: string; routine?: string };

  /** An error that the server reports. Other errors have no `severity`, which the server translates. */
  export type ServerError = Error & { code: string; severity: string };

  export default class Client {
    constructor(options: ClientOptions);
    connect(): Promise<void>;
    query(query: Query): Promise<{ rows: (string | null)[][] }>;
    on(event: "error", listen: (error: Error) => void): void;
    on(event: "notice", listen: (notice: Notice) => void): void;
  }
}
