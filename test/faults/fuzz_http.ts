/**
 * Sends what no client should send to a service and its metrics, and judges it: the same process stays alive and ready,
 * each sound request gets its own response, and the log has no error.
 *
 *     deno task faults --fuzz 50000 [--seed N]
 */

import { assertEquals } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { startOn } from "../support/node_service.ts";
import type { RuntimeName } from "../support/programs.ts";
import type { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { HANG_LIMIT_MS, until } from "../support/until.ts";
import { type OddConnection, oddConnection, type SoundRequest } from "./odd_connection.ts";

/** Number of clients side by side. */
const CLIENTS = 24;

/** After so many connections, the service must be ready. */
const CHECK_EVERY = 200;

/** How long a client waits for what comes after its responses, in milliseconds. */
const READ_MS = 5;

/** Descriptors that the service may have open beside those before: of idle connections of `fetch`, and of the store. */
const OTHER_DESCRIPTORS = 16;

/** Settings with which the service reads and logs more of a request. */
const READING = {
  ACCESS_LOG: "true",
  CORS_ORIGINS: "https://shop.example",
  TRUSTED_PROXIES: "127.0.0.1",
};

export interface FuzzOptions {
  runtime: RuntimeName;
  /** Each makes one connection. */
  seeds: Iterable<number>;
}

/** Resolves to the numbers of connections and of responses to sound requests. Rejects if the service fails. */
export async function fuzzHttp(
  { runtime, seeds }: FuzzOptions,
): Promise<{ connections: number; responses: number }> {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  const METRICS_PORT = String(freePort());
  await using service = await startOn(runtime, temp.kvPath, { METRICS_PORT, ...READING });
  const ports = { service: Number(new URL(service.address).port), metrics: Number(METRICS_PORT) };
  const judge = new Judge(service);
  await judge.expectReady();
  const before = judge.descriptors();
  let connections = 0;
  let responses = 0;
  const waiting = Iterator.from(seeds);
  const work = async () => {
    for (const seed of waiting) {
      const connection = oddConnection(seed, token);
      const isJudged = await converse(connection, ports[connection.port], runtime)
        .catch((cause) => judge.fail(seed, cause));
      connections++;
      if (isJudged) responses += connection.sound.length;
      if (connections % CHECK_EVERY === 0) await judge.expectReady();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  await judge.expectReady();
  await until(() => judge.descriptors() <= before + OTHER_DESCRIPTORS, "Descriptors stay open");
  assertEquals(await service.stop(), 0, service.lines.join("\n"));
  judge.expectNoErrors();
  return { connections, responses };
}

class Judge {
  readonly #service: ServiceProcess;
  #hasEnded = false;

  constructor(service: ServiceProcess) {
    this.#service = service;
    void service.ended().then(() => this.#hasEnded = true);
  }

  /** Expects that the process is alive and ready, and has logged no error. */
  async expectReady(): Promise<void> {
    if (this.#hasEnded) throw new Error(`The process has ended: ${this.#lastLines}`);
    const response = await fetch(`${this.#service.address}/readyz`);
    assertEquals([response.status, (await response.json()).status], [200, "ready"]);
    this.expectNoErrors();
  }

  expectNoErrors(): void {
    const errors = this.#service.lines.filter((line) => line.includes('"level":"error"'));
    assertEquals(errors, []);
  }

  fail(seed: number, cause: unknown): never {
    const command = `deno task faults --fuzz 1 --seed ${seed}`;
    const message = `Connection ${seed} failed; its command is ${command}. ${this.#lastLines}`;
    throw new Error(message, { cause });
  }

  descriptors(): number {
    return [...Deno.readDirSync(`/proc/${this.#service.pid}/fd`)].length;
  }

  get #lastLines(): string {
    return this.#service.lines.slice(-3).join("\n");
  }
}

/**
 * Sends a connection's bytes, and expects the responses to its sound requests. Resolves to whether it could: a client
 * that leaves reads none. Deno drops the request of a client that ends its side; it also closes a socket with unread
 * bytes at once, which can cut off a response of 64 KB, as the metrics are.
 */
export async function converse(
  { sound, odd, writes, end, port: server }: OddConnection,
  port: number,
  runtime: RuntimeName,
): Promise<boolean> {
  using client = await OddClient.connect(port);
  const text = sound.map((it) => it.text).join("") + odd;
  let at = 0;
  for (const length of [...writes, Infinity]) {
    await client.write(text.slice(at, at + length));
    at += length;
  }
  if (end === "half-closes") await client.closeWrite();
  if (end === "resets") return client.reset();
  const isReading = end === "reads" && server === "service";
  const isJudged = isReading || end !== "leaves" && runtime === "node";
  if (!isJudged) return false;
  for (const request of sound) await client.expectResponse(request);
  await client.readFor(READ_MS);
  return true;
}

class OddClient implements Disposable {
  readonly #connection: Deno.TcpConn;
  #received = "";
  #hasEnded = false;
  #onProgress = () => {};

  private constructor(connection: Deno.TcpConn) {
    this.#connection = connection;
    void this.#read();
  }

  static async connect(port: number): Promise<OddClient> {
    return new OddClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  /** The server may close the connection before all is written. */
  async write(text: string): Promise<void> {
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    try {
      for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
    } catch {
      // What was received is judged.
    }
  }

  async closeWrite(): Promise<void> {
    await this.#connection.closeWrite().catch(() => {});
  }

  /** With unread bytes, or bytes on their way, the system resets the connection. */
  reset(): boolean {
    this[Symbol.dispose]();
    return false;
  }

  async expectResponse({ text, isHead, status, contains }: SoundRequest): Promise<void> {
    const [response, found, body] = await this.#untilReceived((received) => {
      const [whole, found, headers] =
        /^HTTP\/1\.1 (\d+) [^\r]*\r\n([^]*?\r\n)\r\n/.exec(received) ?? [];
      if (whole === undefined) return undefined;
      const [, length = "0"] = /^content-length: (\d+)\r$/im.exec(headers) ?? [];
      const endsAt = whole.length + (isHead ? 0 : Number(length));
      if (received.length < endsAt) return undefined;
      return [
        received.slice(0, endsAt),
        Number(found),
        received.slice(whole.length, endsAt),
      ] as const;
    }, text);
    this.#received = this.#received.slice(response.length);
    assertEquals([found, body.includes(contains)], [status, true], `${text}\n${response}`);
  }

  /** Resolves after a time, or when the server ends the connection. */
  async readFor(ms: number): Promise<void> {
    const deadline = Date.now() + ms;
    while (!this.#hasEnded && Date.now() < deadline) await this.#progress(ms);
  }

  [Symbol.dispose](): void {
    try {
      this.#connection.close();
    } catch {
      // It is already closed.
    }
  }

  async #read(): Promise<void> {
    const buffer = new Uint8Array(16_384);
    const decoder = new TextDecoder("latin1");
    try {
      for (;;) {
        const length = await this.#connection.read(buffer);
        if (length === null) break;
        this.#received += decoder.decode(buffer.subarray(0, length));
        this.#onProgress();
      }
    } catch {
      // The connection was reset or closed.
    }
    this.#hasEnded = true;
    this.#onProgress();
  }

  async #untilReceived<T>(find: (received: string) => T | undefined, text: string): Promise<T> {
    const deadline = Date.now() + HANG_LIMIT_MS;
    for (;;) {
      const found = find(this.#received);
      if (found !== undefined) return found;
      const isOver = this.#hasEnded || Date.now() > deadline;
      if (isOver) throw new Error(`No response to ${text}: ${JSON.stringify(this.#received)}`);
      await this.#progress(HANG_LIMIT_MS);
    }
  }

  /** Resolves when something has arrived, or after a time. */
  async #progress(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onProgress = resolve;
    const timer = setTimeout(resolve, ms);
    await promise;
    clearTimeout(timer);
  }
}
