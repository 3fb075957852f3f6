import { freePort } from "./free_port.ts";
import type { Need } from "./test_needing.ts";

/** A real server of a store, on loopback and with a store of its own. */
export abstract class StoreServer implements AsyncDisposable {
  readonly port = freePort();
  /** Its token or password. */
  readonly secret: string;
  protected readonly folder: string;
  #process: Deno.ChildProcess | undefined;

  constructor(folder: string, secret: string = crypto.randomUUID()) {
    this.folder = folder;
    this.secret = secret;
  }

  /** Names the store for programs: the address of the server, or the URL of a database. */
  get address(): string {
    return this.addressAt(this.port);
  }

  /** The same store, reached through another port of this machine. */
  abstract addressAt(port: number): string;

  /** Variables that programs need besides. */
  abstract readonly env: Record<string, string>;

  /** The same store with a wrong secret: how to name it, and what programs say. */
  abstract wrongSecret(): { address: string; env: Record<string, string>; message: string };

  /** Starts it, also again on the same data and port. Resolves when it responds. */
  abstract start(): Promise<void>;

  protected spawn(program: string, args: string[]): void {
    const quiet = { stdin: "null", stdout: "null", stderr: "null" } as const;
    this.#process = new Deno.Command(program, { args, cwd: "/", env: this.env, ...quiet }).spawn();
  }

  /** Ends all its processes at once, like a failing machine. */
  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    signalTree(this.#process.pid, "SIGKILL");
    await this.#process.status;
    this.#process = undefined;
  }

  /** Stops its processes: they keep their connections, but do not respond. */
  pause(): void {
    signalTree(this.#process!.pid, "SIGSTOP");
  }

  resume(): void {
    signalTree(this.#process!.pid, "SIGCONT");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await Deno.remove(this.folder, { recursive: true });
  }
}

/** How tests get servers of one kind. */
export interface StoreServers {
  /** Names the kind of server in the names of the tests. */
  name: string;
  /** Its program, and a variable that asks for the tests with it. */
  need: Need;
  /** The share of responses that a proxy cuts off under load. */
  cutShare: number;
  /** Starts a server on an empty store. */
  start(): Promise<StoreServer>;
}

/** Whether a variable asks for something, such as for the tests of a kind of server. */
export function isWanted(variable: string): boolean {
  const { state } = Deno.permissions.querySync({ name: "env", variable });
  return state === "granted" && Deno.env.has(variable);
}

/** The program at a path. */
export function programAt(path: string): Need {
  return { name: path, isMet: isInstalled(path) };
}

export function isInstalled(program: string): boolean {
  try {
    return Deno.statSync(program).isFile;
  } catch {
    return false;
  }
}

/** Sends a signal to a process and all that it started; to the parent first, so that it starts no others meanwhile. */
function signalTree(pid: number, signal: Deno.Signal): void {
  const children = childrenOf(pid);
  try {
    Deno.kill(pid, signal);
  } catch (error) {
    // It has ended meanwhile.
    if (!(error instanceof Deno.errors.NotFound) && !(error instanceof TypeError)) throw error;
  }
  for (const child of new Set([...children, ...childrenOf(pid)])) signalTree(child, signal);
}

export function childrenOf(pid: number): number[] {
  try {
    const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`);
    return (children.match(/\d+/g) ?? []).map(Number);
  } catch {
    // It has ended meanwhile.
    return [];
  }
}
