/** A real server of a store, on loopback and with a store of its own. */
export interface StoreServer extends AsyncDisposable {
  readonly port: number;
  /** Names the store for programs: the address of the server, or the URL of a database. */
  readonly address: string;
  /** The same store, reached through another port of this machine. */
  addressAt(port: number): string;
  /** Variables that programs need besides. */
  readonly env: Record<string, string>;
  /** Its token or password. */
  readonly secret: string;
  /** Starts it again, on the same data and port. Resolves when it responds. */
  start(): Promise<void>;
  /** Ends it at once, like a failing machine. */
  kill(): Promise<void>;
  /** Stops its processes: they keep their connections, but do not respond. */
  pause(): void;
  resume(): void;
}

/** How tests get servers of one kind. */
export interface StoreServers {
  /** Names the kind of server in the names of the tests. */
  name: string;
  /** Whether this run of the tests lacks the server. */
  ignore: boolean;
  /** Starts a server on an empty store. */
  start(): Promise<StoreServer>;
}
