import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import * as errors from "../../src/eventstore_less/store/store_errors.ts";
import { type Store, STORE_LIMITS } from "../../src/eventstore_less/store/store.ts";
import { NODE } from "../support/programs.ts";
import { fromLine, type StoreCall, type StoreOutcome, toLine } from "./store_messages.ts";

type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void };

/** A `SqliteStore` in a process of its own on Node. All calls reject once it has ended. */
export class StoreOnNode implements Store {
  readonly limits = STORE_LIMITS;
  #process: ChildProcessByStdio<Writable, Readable, null>;
  #ended: Promise<unknown>;
  #waiting: Waiting[] = [];
  #hasEnded = false;

  constructor(path: string) {
    const program = new URL("serve_store.ts", import.meta.url).pathname;
    this.#process = spawn(NODE, [program, path], { stdio: ["pipe", "pipe", "inherit"] });
    // A killed process reads no more.
    this.#process.stdin.on("error", () => {});
    createInterface({ input: this.#process.stdout }).on("line", (line) => {
      const { result, error } = fromLine(line) as StoreOutcome;
      const { resolve, reject } = this.#waiting.shift()!;
      if (error === undefined) resolve(result);
      else reject(errorOf(error));
    });
    this.#ended = once(this.#process, "close").then(() => {
      this.#hasEnded = true;
      for (const { reject } of this.#waiting) reject(new errors.StoreClosedError());
    });
  }

  get: Store["get"] = (...args) => this.#call({ name: "get", args });
  list: Store["list"] = (...args) => this.#call({ name: "list", args });
  snapshot: Store["snapshot"] = (...args) => this.#call({ name: "snapshot", args });
  commit: Store["commit"] = (...args) => this.#call({ name: "commit", args });

  close(): void {
    this.#call({ name: "close", args: [] }).catch(() => {});
  }

  async kill(): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#ended;
  }

  /** The process ends by itself once its store is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.stdin.end();
    await this.#ended;
  }

  #call<T>(call: StoreCall): Promise<T> {
    if (this.#hasEnded) return Promise.reject(new errors.StoreClosedError());
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve: resolve as Waiting["resolve"], reject });
      this.#process.stdin.write(`${toLine(call)}\n`);
    });
  }
}

/** The error of that class: the message is what its constructor makes, or what it takes. */
function errorOf({ name, message }: { name: string; message: string }): Error {
  const Type = (errors as unknown as Record<string, new (message: string) => Error>)[name] ?? Error;
  return new Type(message);
}
