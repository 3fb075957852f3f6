/**
 * Clients that add, list and read on several instances of the service at once, and look at every
 * answer; then a look at the log itself for what became of every addition.
 */

import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { decodeEvent, GENESIS_HASH, type RecordedEvent } from "../../events/event.ts";
import { encodePet } from "../../events/pet.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { revokeKey } from "../../src/commands/revoke_key.ts";
import { ServiceError } from "../../src/service_error.ts";
import { readLog } from "../../src/log/read_log.ts";
import { createService, type Service } from "../../src/service.ts";
import { acceptLog } from "../../src/log/accept_store.ts";
import { openStore } from "../../src/store/open_store.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import type { DenokvServer } from "./denokv_server.ts";

/** Longest time that anybody waits for an answer, whatever becomes of store and service. */
const ANSWER_LIMIT_MS = 8_000;

const STATUSES = ["available", "pending", "sold", undefined] as const;

export interface LoadOptions {
  /** The instances; an address may be dead for a time where there are faults. */
  addresses: string[];
  clients: number;
  ms: number;
  faults: Faults;
}

/**
 * What happens meanwhile: nothing, so that every request succeeds; answers of the store are cut off, so
 * that a request may take too long; or processes are killed, so that it may have no answer at all.
 */
export type Faults = "none" | "cuts" | "kills";

export interface LoadCounts {
  created: number;
  /** Additions of which the client was told that nothing was stored. */
  refused: number;
  /** Additions of which the client was told nothing, or that the outcome is not known. */
  unclear: number;
  listed: number;
  read: number;
  keysRevoked: number;
  slowestMs: number;
}

interface Added {
  id: number;
  text: string;
}

/** What became of a request: an answer, or none where its instance or its connection died. */
type Outcome = { response: Response; text: string } | undefined;

/** An operator at a terminal, as the tools are: on the store itself, past every instance. */
export async function openOperator(server: DenokvServer): Promise<Service & Disposable> {
  Deno.env.set("DENO_KV_ACCESS_TOKEN", server.token);
  const store = await openStore(server.address, { create: true, accept: acceptLog });
  const parts = { store, runtime: systemRuntime, report: () => {}, appendLimitMs: 10_000 };
  const service = createService(parts);
  return { ...service, [Symbol.dispose]: () => service.store.close() };
}

export class CatalogueLoad {
  readonly counts: LoadCounts = {
    created: 0,
    refused: 0,
    unclear: 0,
    listed: 0,
    read: 0,
    keysRevoked: 0,
    slowestMs: 0,
  };
  #options: LoadOptions;
  #operator: Service;
  #token: string;
  #added: Added[] = [];
  /** Names whose additions nobody answered for. */
  #unclear = new Set<string>();
  #names = 0;

  constructor(operator: Service, token: string, options: LoadOptions) {
    this.#operator = operator;
    this.#token = token;
    this.#options = options;
  }

  /** Runs the load to its end. Rejects at the first answer that is wrong. */
  async run(): Promise<void> {
    const end = performance.now() + this.#options.ms;
    const client = async () => {
      while (performance.now() < end) await this.#act();
    };
    const keeper = async () => {
      while (performance.now() < end) {
        await this.#changeKeys();
        await new Promise((resolve) => setTimeout(resolve, 300));
      }
    };
    await Promise.all([keeper(), ...Array.from({ length: this.#options.clients }, client)]);
  }

  /** Compares the log, to its last line, with what the clients were told. */
  async verifyLog(): Promise<void> {
    const { store, heads } = this.#operator;
    const { head } = await this.#returned(() => heads.fresh());
    let previousHash = GENESIS_HASH;
    let position = 0;
    const pets: RecordedEvent[] = [];
    for await (const batch of readLog(store, { to: head.position })) {
      for (const stored of batch) {
        const bytes = stored.value as Uint8Array;
        const event = decodeEvent(new TextDecoder().decode(bytes));
        assertEquals(stored.position, ++position);
        assertEquals(event.position, position);
        assertEquals(event.previousHash, previousHash);
        previousHash = sha256Hex(bytes);
        if (event.type === "PetCreated") pets.push(event);
      }
    }
    assertEquals(position, head.position);
    assertEquals(previousHash, head.lastHash);
    const textOf = new Map<number, string>();
    const names = new Set<string>();
    for (const [index, event] of pets.entries()) {
      if (event.type !== "PetCreated") continue;
      assertEquals(event.data.id, index + 1);
      assert(!names.has(event.data.name), `${event.data.name} was added twice`);
      names.add(event.data.name);
      textOf.set(event.data.id, encodePet(event.data));
    }
    for (const { id, text } of this.#added) {
      assertEquals(textOf.get(id), text);
      textOf.delete(id);
    }
    for (const text of textOf.values()) {
      const { name } = JSON.parse(text);
      assert(this.#unclear.has(name), `${name} is in the log, but its client was told otherwise`);
    }
  }

  /** Who was away a moment ago is used again within two seconds. */
  async #returned<T>(ask: () => Promise<T>): Promise<T> {
    for (const end = performance.now() + 2_000;;) {
      try {
        return await ask();
      } catch (error) {
        if (performance.now() > end) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async #act(): Promise<void> {
    const choice = Math.random();
    if (choice < 0.4) await this.#create();
    else if (choice < 0.7) await this.#list();
    else await this.#read();
  }

  async #create(): Promise<void> {
    const name = `Animal ${++this.#names}`;
    const status = pick(STATUSES);
    const body = JSON.stringify({ name, categoryId: this.#names, status });
    const outcome = await this.#send(this.#instance(), "/v1/pets", this.#token, body);
    if (outcome === undefined || outcome.response.status === 503) {
      this.#expectFault(outcome);
      // Every other code of a 503 says that nothing was stored, and verifyLog() takes it at its word.
      const isUnclear = outcome === undefined ||
        JSON.parse(outcome.text).code === "outcome_unknown";
      if (isUnclear) this.#unclear.add(name);
      this.counts[isUnclear ? "unclear" : "refused"]++;
      return;
    }
    const { response, text } = outcome;
    assertEquals(response.status, 201, text);
    const { id } = JSON.parse(text);
    const expected = status === undefined ? "" : `,"status":"${status}"`;
    assertEquals(
      text,
      `{"id":${id},"name":"${name}","categoryId":${Number(body.match(/\d+/)![0])}${expected}}`,
    );
    assertEquals(response.headers.get("location"), `/v1/pets/${id}`);
    this.#added.push({ id, text });
    this.counts.created++;
    await this.#expectListed(id, text);
  }

  /** What one instance has acknowledged is in the next list of any other. */
  async #expectListed(id: number, text: string): Promise<void> {
    const page = await this.#answered(this.#instance(), "/v1/pets?limit=100");
    if (page !== undefined) {
      const pets: { id: number }[] = JSON.parse(page);
      assert(pets[0].id >= id, `The list ends at ${pets[0].id}, before ${id}`);
      if (pets[0].id - id < pets.length) {
        assertEquals(JSON.stringify(pets.find((pet) => pet.id === id)), text);
      }
    }
    const below = await this.#answered(this.#instance(), `/v1/pets?limit=1&cursor=${id + 1}`);
    if (below !== undefined) assertEquals(below, `[${text}]`);
  }

  async #list(): Promise<void> {
    const status = pick(STATUSES);
    const newest = this.#added.at(-1);
    const query = status === undefined ? "" : `&status=${status}`;
    const page = await this.#answered(this.#instance(), `/v1/pets?limit=50${query}`);
    if (page === undefined) return;
    const pets: { id: number; status?: string }[] = JSON.parse(page);
    for (const [index, pet] of pets.entries()) {
      if (status !== undefined) assertEquals(pet.status, status);
      if (index > 0) assert(pet.id < pets[index - 1].id, "The list is not in order");
      if (index > 0 && status === undefined) assertEquals(pet.id, pets[index - 1].id - 1);
    }
    if (status === undefined && newest !== undefined) assert(pets[0].id >= newest.id);
    this.counts.listed++;
  }

  async #read(): Promise<void> {
    if (this.#added.length === 0) return;
    const { id, text } = pick(this.#added);
    const answer = await this.#answered(this.#instance(), `/v1/pets/${id}`);
    if (answer === undefined) return;
    assertEquals(answer, text);
    this.counts.read++;
  }

  /** A key works everywhere from the moment it is issued, and nowhere from the moment it is revoked. */
  async #changeKeys(): Promise<void> {
    try {
      const { id, token } = await issueKey(this.#operator, { label: "short-lived" });
      for (const address of this.#options.addresses) await this.#expectKey(address, token, 200);
      await revokeKey(this.#operator, id);
      for (const address of this.#options.addresses) await this.#expectKey(address, token, 401);
      this.counts.keysRevoked++;
    } catch (error) {
      const isOutage = error instanceof ServiceError;
      if (this.#options.faults === "none" || !isOutage) throw error;
    }
  }

  async #expectKey(address: string, token: string, status: number): Promise<void> {
    const outcome = await this.#send(address, "/v1/pets?limit=1", token);
    if (outcome === undefined || outcome.response.status === 503) this.#expectFault(outcome);
    else assertEquals(outcome.response.status, status, outcome.text);
  }

  /** The body of a 200; `undefined` where there was none because of a fault. */
  async #answered(address: string, path: string): Promise<string | undefined> {
    const outcome = await this.#send(address, path, this.#token);
    if (outcome?.response.status === 200) return outcome.text;
    this.#expectFault(outcome);
  }

  #expectFault(outcome: Outcome): void {
    const { faults } = this.#options;
    assert(faults !== "none", `Without a fault: ${outcome?.text ?? "no answer"}`);
    if (outcome === undefined) return assertEquals(faults, "kills", "No answer");
    const { response, text } = outcome;
    assertEquals(response.status, 503, text);
    assertMatch(response.headers.get("retry-after") ?? "", /^\d+$/);
    assertEquals(Object.keys(JSON.parse(text)), ["code", "message", "status"]);
  }

  async #send(address: string, path: string, token: string, body?: string): Promise<Outcome> {
    const headers: Record<string, string> = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const method = body === undefined ? "GET" : "POST";
    const started = performance.now();
    try {
      const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
      const response = await fetch(address + path, { method, headers, body, signal });
      return { response, text: await response.text() };
    } catch (error) {
      assert(!(error instanceof DOMException), `No answer within ${ANSWER_LIMIT_MS} ms`);
      return undefined;
    } finally {
      const ms = performance.now() - started;
      assertLess(ms, ANSWER_LIMIT_MS);
      this.counts.slowestMs = Math.max(this.counts.slowestMs, ms);
    }
  }

  #instance(): string {
    return pick(this.#options.addresses);
  }
}

function pick<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)];
}
