/**
 * Clients that add, change, remove, list and read pets at a number of connections and check every response. They keep a
 * ledger of the outcomes of additions, changes and removals, and compare it with the services and the log.
 */

import { audit } from "./tools.ts";
import { APPLICATION } from "../../src/application.ts";
import { assert, assertEquals, assertMatch } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { decodeEvent } from "../../src/eventstore_less/log/event.ts";
import { encodePet, patchPet, PET_STATUSES } from "../../events/pet.ts";
import { entityTag } from "../../src/api/conditional_read.ts";
import type { Service } from "../../src/service.ts";
import type { ServiceProcess } from "./service_process.ts";
import { assertSoundLog, readLogLines } from "./sound_log.ts";
import { HANG_LIMIT_MS } from "./until.ts";

export interface LoadOptions {
  /** The services that run now. Each request goes to one of them, at random. */
  services: () => readonly ServiceProcess[];
  token: string;
  connections: number;
  faults: ExpectedFaults;
  /** Whether most requests list and read pets; by default all add or change pets. */
  reads?: boolean;
  /** Whether clients also change pets, each time on the condition that nobody else did, until the outcome is known. */
  changes?: boolean;
  /** Whether clients also remove pets, under the same condition. */
  removals?: boolean;
  /** Clients give up an addition after a random time up to this, and repeat it until they get the pet. */
  giveUpMs?: number;
}

/** `store`: a response may be a 503. `process`: there may also be no response. */
export type ExpectedFaults = "none" | "store" | "process";

const FAILURE_PAUSE_MS = 20;

const VIOLATIONS_LIMIT = 20;

/** How often a client that repeats requests sends one twice, or again after its response. */
const DOUBLED_SHARE = 0.1;

/** How often a client removes a pet instead of another write, so that most pets stay. */
const REMOVED_SHARE = 0.1;

/** The category of the first change. Each change sets another one, by which the log shows it. */
const FIRST_CHANGE = 1_000_000_001;

const LIST_LIMIT = 100;

const STATUSES = [...PET_STATUSES, undefined];

interface Received {
  status: number;
  headers: Headers;
  text: string;
}

interface Acknowledged {
  id: number;
  text: string;
}

export class LoadClient {
  /** The texts of the acknowledged pets as they are after the last acknowledged change, by id. */
  readonly acknowledged = new Map<number, string>();
  /** Names of pets that may have been added: the response said so, or there was none. */
  readonly unclear = new Set<string>();
  /** Names of pets that were not added, by their responses. */
  readonly refused = new Set<string>();
  readonly violations: string[] = [];
  readonly outcomes: Record<string, number> = {};
  begun = 0;
  /** The texts of the pets before acknowledged changes, by those after them. */
  readonly changes = new Map<string, string>();
  /** The texts of the pets of acknowledged removals, by id. */
  readonly removed = new Map<number, string>();
  #options: LoadOptions;
  #newestId = 0;
  #changesBegun = 0;
  /** The texts of pets after changes whose outcomes are not known yet, by id; empty during a removal. */
  #changing = new Map<number, string>();
  /** All texts of each pet so far, by id. During a change, the last one is that after it. */
  #texts = new Map<number, string[]>();

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  /** Sends requests until `isOver`, which is asked before each. */
  async run(isOver: () => boolean): Promise<void> {
    const connection = async () => {
      while (!isOver() && this.violations.length < VIOLATIONS_LIMIT) {
        try {
          if (!await this.#act()) await sleep(FAILURE_PAUSE_MS);
        } catch (error) {
          this.violations.push(String(error));
        }
      }
    };
    await Promise.all(Array.from({ length: this.#options.connections }, connection));
  }

  /** Takes the pets that a service lists now as acknowledged. */
  async adopt(service: ServiceProcess): Promise<void> {
    for (const text of await this.#listAll(service)) {
      this.#acknowledge({ id: JSON.parse(text).id, text });
    }
  }

  /** Asserts that a key gets this status from a service, unless there is a fault. */
  async expectKey(service: ServiceProcess, token: string, status: number): Promise<void> {
    const received = await this.#send("/v1/pets?limit=1", { service, token });
    if (received === undefined || received.status === 503) this.#expectFault(received);
    else assertEquals(received.status, status, received.text);
  }

  /** Asserts that a service lists every acknowledged pet, no refused one and no unclear one twice. */
  async expectServed(service: ServiceProcess): Promise<void> {
    this.#compare(await this.#listAll(service));
  }

  /** Asserts the same about the log, and what {@linkcode expectChanges} does. */
  async expectLogged(service: Service): Promise<void> {
    await this.expectChanges(service);
    this.#compare(assertSoundLog(await readLogLines(service.store)).map(encodePet));
  }

  /** Asserts that the log has every acknowledged change once, of the pet that the client had seen, and is sound. */
  async expectChanges({ store, runtime }: Service): Promise<void> {
    const acknowledged = [...this.changes.keys()];
    const acknowledgedRemovals = [...this.removed.keys()];
    const events = (await readLogLines(store)).map((line) => decodeEvent(APPLICATION, line));
    const unclear = [...this.#changing.values()];
    const logged = new Set<string>();
    const removed = new Set<number>();
    for (const event of events) {
      if (event.type === "PetRemoved") {
        const { id } = event.data;
        assert(!removed.has(id), `Pet ${id} was removed twice`);
        removed.add(id);
        const before = this.removed.get(id);
        if (before === undefined) assertEquals(this.#changing.get(id), "", `Pet ${id}`);
        else assertEquals(encodePet(event.data), before);
      }
      if (event.type !== "PetUpdated") continue;
      const { previous, ...pet } = event.data;
      const text = encodePet(pet);
      assert(!logged.has(text), `${text} is there twice`);
      logged.add(text);
      const before = this.changes.get(text);
      if (before === undefined) assert(unclear.includes(text), `${text} was not acknowledged`);
      else assertEquals(encodePet(patchPet(pet, previous)), before);
    }
    assertEquals(acknowledged.filter((text) => !logged.has(text)), []);
    assertEquals(acknowledgedRemovals.filter((id) => !removed.has(id)), []);
    const { sound, faults, noteCounts } = await audit({ store, runtime });
    assert(sound, JSON.stringify(faults));
    assertEquals(noteCounts.idempotency_key_repeated, undefined);
  }

  /** Asserts that a service shows the pet that was added last, and the one that was changed last. */
  async expectFresh(service: ServiceProcess): Promise<void> {
    assertEquals(this.violations, []);
    const changed = [...this.changes.keys()].at(-1);
    if (changed !== undefined) await this.#read(JSON.parse(changed).id, service);
    await this.#read(this.#newestId, service);
    const removed = [...this.removed.keys()].at(-1);
    if (removed === undefined) return;
    const received = await this.#send(`/v1/pets/${removed}`, { service });
    if (received?.status !== 404) this.#expectFault(received);
  }

  get summary(): string {
    return `${this.acknowledged.size} acknowledged, ${this.unclear.size} unclear, ${this.refused.size} refused; ` +
      `${this.changes.size} changes, ${this.removed.size} removals`;
  }

  #compare(texts: string[]): void {
    assertEquals(this.violations, []);
    const names = new Set<string>();
    const acknowledged = new Set<number>();
    for (const text of texts) {
      const { id, name } = JSON.parse(text);
      assert(!names.has(name), `${name} was added twice`);
      names.add(name);
      if (this.acknowledged.get(id) === text) acknowledged.add(id);
      else assert(this.unclear.has(name), `${text} was not acknowledged`);
    }
    const lost = [...this.acknowledged].filter(([id]) => !acknowledged.has(id));
    assertEquals(lost, []);
  }

  #acknowledge({ id, text }: Acknowledged): void {
    const isNew = !this.acknowledged.has(id) && !this.removed.has(id);
    assert(isNew, `Pet ${id} was added twice`);
    this.acknowledged.set(id, text);
    this.#texts.set(id, [text]);
    this.#newestId = Math.max(this.#newestId, id);
  }

  /** Resolves to whether the request succeeded. */
  async #act(): Promise<boolean> {
    const { reads = false, changes = false } = this.#options;
    const choice = reads ? Math.random() : 0;
    if (choice < 0.4) {
      if (this.#options.removals && Math.random() < REMOVED_SHARE) return await this.#remove();
      return changes && Math.random() < 0.5 ? await this.#change() : await this.#create();
    }
    return choice < 0.7 ? await this.#list() : await this.#read();
  }

  /** Changes a pet that nobody else changes. */
  async #change(): Promise<boolean> {
    const id = this.#randomId();
    const before = this.acknowledged.get(id);
    if (before === undefined || this.#changing.has(id)) return true;
    const categoryId = FIRST_CHANGE + this.#changesBegun++;
    const status = pick(STATUSES);
    const text = JSON.stringify({ ...JSON.parse(before), categoryId, status });
    this.#changing.set(id, text);
    this.#texts.get(id)!.push(text);
    const patch = { categoryId, status: status ?? null };
    const received = await this.#writeUntilKnown("PATCH", id, before, patch);
    assertEquals([received.status, received.text], [200, text]);
    this.changes.set(text, before);
    this.acknowledged.set(id, text);
    this.#changing.delete(id);
    this.#count("changed");
    return true;
  }

  /** Removes a pet that nobody else changes. Its id is then never used again. */
  async #remove(): Promise<boolean> {
    const id = this.#randomId();
    const before = this.acknowledged.get(id);
    if (before === undefined || this.#changing.has(id)) return true;
    this.#changing.set(id, "");
    this.#texts.delete(id);
    const received = await this.#writeUntilKnown("DELETE", id, before, {});
    assertEquals([received.status, received.text], [204, ""]);
    this.removed.set(id, before);
    this.acknowledged.delete(id);
    this.#changing.delete(id);
    this.#count("removed");
    return true;
  }

  /** Sends a write, on the condition that the pet has that text, until its outcome is known. */
  async #writeUntilKnown(
    method: string,
    id: number,
    before: string,
    patch: object,
  ): Promise<Received> {
    const headers = {
      "content-type": "application/merge-patch+json",
      "idempotency-key": crypto.randomUUID(),
      "if-match": entityTag(before),
    };
    const request = { method, headers, body: JSON.stringify(patch) };
    for (;;) {
      const received = await this.#send(`/v1/pets/${id}`, request);
      if (received !== undefined && received.status !== 503) return received;
      this.#expectFault(received);
      await sleep(FAILURE_PAUSE_MS);
    }
  }

  #randomId(): number {
    return 1 + Math.floor(Math.random() * this.#newestId);
  }

  async #create(): Promise<boolean> {
    const { giveUpMs } = this.#options;
    const pet = { name: `Animal ${++this.begun}`, categoryId: this.begun, status: pick(STATUSES) };
    const outcome = giveUpMs === undefined
      ? await this.#post(pet)
      : await this.#postUntilKnown(pet, giveUpMs);
    if (typeof outcome === "string") {
      this[outcome].add(pet.name);
      return false;
    }
    this.#acknowledge(outcome);
    return true;
  }

  /** Sends a POST until there is a response that names the pet, sometimes twice at once, sometimes once more. */
  async #postUntilKnown(pet: { name: string }, giveUpMs: number): Promise<Acknowledged> {
    const headers = { "idempotency-key": crypto.randomUUID() };
    const known = new Map<number, Acknowledged>();
    for (let attempt = 1; known.size === 0 || Math.random() < DOUBLED_SHARE; attempt++) {
      const count = Math.random() < DOUBLED_SHARE ? 2 : 1;
      const limitMs = 1 + Math.random() * giveUpMs * attempt;
      const posts = Array.from({ length: count }, () => this.#post(pet, headers, limitMs));
      for (const outcome of await Promise.all(posts)) {
        if (typeof outcome !== "string") known.set(outcome.id, outcome);
      }
      if (known.size === 0) await sleep(FAILURE_PAUSE_MS);
    }
    assertEquals(known.size, 1, `one id for ${pet.name}`);
    return [...known.values()][0];
  }

  async #post(
    pet: { name: string },
    headers: Record<string, string> = {},
    limitMs?: number,
  ): Promise<Acknowledged | "refused" | "unclear"> {
    const received = await this.#send("/v1/pets", {
      limitMs,
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(pet),
    });
    if (received === undefined || received.status === 503) {
      this.#expectFault(received);
      // Every other code of a 503 says that nothing was stored.
      const isUnclear = received === undefined ||
        JSON.parse(received.text).code === "outcome_unknown";
      return isUnclear ? "unclear" : "refused";
    }
    const { status, text } = received;
    assertEquals(status, 201, text);
    const { id } = JSON.parse(text);
    assertEquals(text, JSON.stringify({ id, ...pet }));
    assertEquals(new URL(received.headers.get("location")!).pathname, `/v1/pets/${id}`);
    this.#count(received.headers.has("idempotency-replayed") ? "repeated" : "created");
    return { id, text };
  }

  /** A list has all pets that were acknowledged before it, on any service, and none that was removed before it. */
  async #list(): Promise<boolean> {
    const newestId = this.#newestId;
    const removed = [...this.removed.keys()];
    const page = await this.#get(`/v1/pets?limit=${LIST_LIMIT}`);
    if (page === undefined) return false;
    const ids: number[] = JSON.parse(page).map((pet: { id: number }) => pet.id);
    const [firstId, lastId] = [
      Math.max(newestId, ids[0]),
      ids.length < LIST_LIMIT ? 1 : ids.at(-1)!,
    ];
    const all = Array.from({ length: firstId - lastId + 1 }, (_, index) => firstId - index);
    const isGone = (id: number) => this.removed.has(id) || this.#changing.get(id) === "";
    assertEquals(ids, all.filter((id) => ids.includes(id) || !isGone(id)));
    assertEquals(ids.filter((id) => removed.includes(id)), []);
    this.#count("listed");
    return true;
  }

  async #read(id = this.#randomId(), service?: ServiceProcess): Promise<boolean> {
    const texts = this.#texts.get(id);
    if (texts === undefined) return true;
    const newest = texts.length - (this.#changing.has(id) ? 2 : 1);
    const received = await this.#send(`/v1/pets/${id}`, { service });
    // It is being removed, or was removed meanwhile.
    if (received?.status === 404 && !this.#texts.has(id)) return true;
    if (received?.status !== 200) {
      this.#expectFault(received);
      return false;
    }
    const possible = texts.slice(newest);
    assert(possible.includes(received.text), `${received.text} is none of ${possible}`);
    this.#count("read");
    return true;
  }

  /** The body of a 200, or `undefined` because of a fault. */
  async #get(path: string, service?: ServiceProcess): Promise<string | undefined> {
    const received = await this.#send(path, { service });
    if (received?.status === 200) return received.text;
    this.#expectFault(received);
  }

  #expectFault(received: Received | undefined): void {
    const { faults } = this.#options;
    if (received === undefined) return assertEquals(faults, "process", "No response");
    assert(faults !== "none", `Without a fault: ${received.status} ${received.text}`);
    assertEquals(received.status, 503, received.text);
    assertMatch(received.headers.get("retry-after") ?? "", /^\d+$/);
    this.#count(JSON.parse(received.text).code);
  }

  /** Resolves to `undefined` if the connection breaks or the client gives up. */
  async #send(
    path: string,
    { service, token, limitMs = HANG_LIMIT_MS, ...init }: RequestInit & {
      service?: ServiceProcess;
      token?: string;
      limitMs?: number;
    } = {},
  ): Promise<Received | undefined> {
    const receiver = service ?? pick(this.#options.services());
    try {
      const signal = AbortSignal.timeout(limitMs);
      const response = await receiver.send(path, token ?? this.#options.token, { ...init, signal });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (error) {
      if (error instanceof DOMException && limitMs < HANG_LIMIT_MS) this.#count("gave up");
      else if (error instanceof TypeError) this.#count("connection lost");
      else throw error;
    }
  }

  async #listAll(service: ServiceProcess): Promise<string[]> {
    const texts: string[] = [];
    for (let path: string | undefined = `/v1/pets?limit=${LIST_LIMIT}`; path !== undefined;) {
      const response: Response = await service.send(path, this.#options.token);
      assertEquals(response.status, 200);
      for (const pet of await response.json()) texts.push(JSON.stringify(pet));
      path = /^<http:\/\/[^/]+(.+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    }
    return texts;
  }

  #count(outcome: string): void {
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1;
  }
}

export function pick<T>(choices: readonly T[]): T {
  return choices[Math.floor(Math.random() * choices.length)];
}
