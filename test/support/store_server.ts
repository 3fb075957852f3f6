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
  /** The same store with a wrong secret: how to name it, and what programs say. */
  wrongSecret(): { address: string; env: Record<string, string>; message: string };
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
  /** The share of responses that a proxy cuts off under load. */
  cutShare: number;
  /** Starts a server on an empty store. */
  start(): Promise<StoreServer>;
}

/** Whether a variable asks for the tests of a kind of server. */
export function isWanted(variable: string): boolean {
  const { state } = Deno.permissions.querySync({ name: "env", variable });
  return state === "granted" && Deno.env.has(variable);
}

/** Long enough for every machine: it only ends a test that hangs. */
export const HANG_LIMIT_MS = 60_000;

/** Repeats an attempt until it succeeds, and resolves to its result. */
export async function until<T>(attempt: () => T | Promise<T>, message: string): Promise<T> {
  const deadline = Date.now() + HANG_LIMIT_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (cause) {
      if (Date.now() > deadline) throw new Error(message, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
