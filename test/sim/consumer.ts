/** Clients that follow the feed of events: each sees every event of its filter once and in order, or gets a 410. */

import { PET_STATUSES } from "./draws.ts";
import type { EventsOperation, KeyInUse, Operation } from "./history.ts";
import type { Node } from "./node.ts";
import { type CommittedLine, feedIdOf, shortened } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { Workload } from "./workload.ts";

/** Without faults, the age of an event on a stream of another instance, and of the one that appended it. */
const LAG_MS = 500;
const OWN_LAG_MS = 50;

/** How a consumer reads a stream: until then, or so many messages, with pauses of up to so many milliseconds. */
interface Reading {
  until: Promise<void>;
  messages?: number;
  pauseMs?: number;
}

const TYPES = ["PetCreated", "PetUpdated", "PetRemoved", "PetRestored"];

type Filter = Pick<EventsOperation, "type" | "status">;

/** Draws the consumers of a seed; many seeds have none. */
export function drawConsumers(workload: Workload, random: Random): Consumer[] {
  const count = random.pick([0, 0, 0, 1, 2, 3]);
  return Array.from({ length: count }, (_, index) => new Consumer(workload, index, random.fork()));
}

export class Consumer {
  #workload: Workload;
  #name: string;
  #random: Random;
  #filter: Filter;
  /** The newest id that the consumer has, and its position: `undefined` until `now` is a position. */
  #id: string | undefined;
  #position: number | undefined = 0;
  /** The key and the node of the current request, the length of the log when it was sent, and the time then. */
  #key: KeyInUse;
  #node: Node | undefined;
  #startPosition = 0;
  #startAt = 0;

  constructor(workload: Workload, index: number, random: Random) {
    this.#workload = workload;
    this.#name = `consumer${index}`;
    this.#random = random;
    this.#key = workload.keys[0];
    this.#filter = {
      ...(random.chance(0.3) && { type: random.pick(TYPES) }),
      ...(random.chance(0.4) && { status: random.pick(PET_STATUSES) }),
    };
  }

  /** Follows during faults: stops often, and resumes on any instance from its newest id, or an old one. */
  async follow(isOver: () => boolean): Promise<void> {
    const { cluster, keys } = this.#workload;
    const random = this.#random;
    const pauseMs = random.pick([1, 100, 2_000]);
    while (!isOver()) {
      await cluster.simulation.sleep(random.between(0, 2 * pauseMs));
      if (random.chance(0.1)) await this.#tryUnknownId();
      if (random.chance(0.1)) this.#goBack();
      if (random.chance(0.1)) await this.#copy();
      this.#key = random.chance(0.5) ? random.pick(keys) : keys[0];
      const limit = random.pick([undefined, 1, 3, 1_000]);
      const timeout = random.pick([undefined, 300, 5_000]);
      await this.#request({ isStream: random.chance(0.6), limit, timeout }, {
        until: cluster.simulation.sleep(random.pick([50, 2_000, 15_000])),
        messages: random.pick([1, 3, Infinity]),
        pauseMs: random.pick([0, 0, 10, 3_000]),
      });
    }
  }

  /** Follows without faults until some time after the last event, and must know the whole log then. */
  async catchUp(over: Promise<void>): Promise<void> {
    const { cluster, keys } = this.#workload;
    this.#key = keys[0];
    const isStream = this.#random.chance(0.6);
    let isOver = false;
    over.then(() => isOver = true);
    while (!isOver) await this.#request({ isStream, timeout: 5_000 }, { until: over });
    const { length } = cluster.oracle.lines;
    if (this.#position !== length) this.#violate(`knows the log up to ${this.#id}, not ${length}`);
  }

  #goBack(): void {
    const position = this.#random.integer(0, this.#position ?? 0);
    const isNow = this.#random.chance(0.2);
    this.#position = isNow ? undefined : position;
    this.#id = isNow ? "now" : idAt(this.#workload, position);
  }

  /** Begins with a list, after which the feed has all changes: the checker compares it with the log at that id. */
  async #copy(): Promise<void> {
    const { cluster, keys } = this.#workload;
    const slot = this.#random.integer(0, cluster.size - 1);
    const [exchange] = await cluster.send(slot, { kind: "list", limit: 100 }, keys[0]);
    if (exchange?.response?.status !== 200) return;
    this.#id = exchange.response.headers.get("x-feed-position")!;
    this.#position = parseInt(this.#id);
  }

  /** Sends an id that the log does not have, although it looks like one of it. */
  async #tryUnknownId(): Promise<void> {
    const { cluster, keys } = this.#workload;
    const random = this.#random;
    const { length } = cluster.oracle.lines;
    const [sequence, hash] = idAt(this.#workload, random.integer(0, length)).split("-");
    const lastEventId = random.chance(0.2)
      ? `${String(length + 1_000).padStart(16, "0")}-${hash}`
      : `${sequence}-${hash.replace(/^./, (digit) => digit === "f" ? "e" : "f")}`;
    const operation: Operation = { kind: "events", lastEventId, isStream: random.chance(0.5) };
    const slot = random.integer(0, cluster.size - 1);
    const [exchange] = await cluster.send(slot, operation, keys[0]);
    const { status = 410 } = exchange?.response ?? {};
    if (status !== 410 && status !== 503) this.#violate(`gets ${status} for ${lastEventId}`);
  }

  async #request(request: Partial<EventsOperation>, reading: Reading): Promise<void> {
    const { cluster } = this.#workload;
    const isNow = this.#id === "now";
    const name = isNow || this.#random.chance(0.5) ? "lastEventId" : "resumes";
    const base = { kind: "events" as const, ...this.#filter, ...request };
    const operation: EventsOperation = { ...base, [name]: this.#id };
    // After `now`, only an empty batch says where it began.
    if (isNow) operation.timeout = undefined;
    this.#startPosition = cluster.oracle.lines.length;
    this.#startAt = cluster.simulation.now;
    const slot = this.#random.integer(0, cluster.size - 1);
    const [exchange] = await cluster.send(slot, operation, this.#key, async (response, node) => {
      const { status, headers } = response;
      this.#node = node;
      if (status !== 200 || !operation.isStream) {
        return { status, headers, body: await response.text() };
      }
      await this.#readStream(response.body!, node, reading);
      return { status, headers, body: "" };
    });
    const { status, body = "", headers } = exchange?.response ?? {};
    if (status === 410) this.#violate("gets 410 for an id of the log");
    if (status !== 200) return await cluster.simulation.sleep(100);
    if (!operation.isStream) this.#takeBatch(body, headers!.get("link") ?? "", operation);
  }

  #takeBatch(body: string, link: string, { limit = 100 }: EventsOperation): void {
    const [, lastEventId = ""] = /lastEventId=([\w-]+)/.exec(link) ?? [];
    const count = JSON.parse(body).length;
    this.#advance(lastEventId, body);
    const isFull = count === limit || body.length > 1_000_000;
    if (count > limit || !isFull && this.#position! < this.#startPosition) {
      this.#violate(`gets ${count} events in a batch of up to ${limit}, to ${lastEventId}`);
    }
  }

  async #readStream(
    body: ReadableStream<Uint8Array>,
    node: Node,
    { until, messages = Infinity, pauseMs = 0 }: Reading,
  ): Promise<void> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let rest = "";
    for (let left = messages; left > 0;) {
      // The stream is code of the node, and so does not run while the node is paused or dead.
      const reading = new Promise<ReadableStreamReadResult<Uint8Array> | undefined>((resolve) => {
        node.deliver(() => resolve(reader.read().catch(() => undefined)));
      });
      const read = await Promise.race([reading, until]);
      if (!read?.value) break;
      rest += decoder.decode(read.value, { stream: true });
      const complete = rest.split("\n\n");
      rest = complete.pop()!;
      for (const message of complete.slice(0, left)) this.#takeMessage(message);
      left -= complete.length;
      const restMs = this.#random.between(0, pauseMs);
      if (restMs > 0) await this.#workload.cluster.simulation.sleep(restMs);
    }
    node.deliver(() => reader.cancel().catch(() => {}));
  }

  #takeMessage(message: string): void {
    if (message === ":") return;
    const fields = message.split("\n").map((line) => line.split(/: (.*)/));
    const { id = "", event, data } = Object.fromEntries(fields);
    this.#advance(id, data === undefined ? "[]" : `[${data}]`);
    if (event !== (data && JSON.parse(data).type)) this.#violate(`gets ${message}`);
  }

  /** Takes an id, and what came with it: everything of the filter since the id before. */
  #advance(id: string, given: string): void {
    const { oracle: { lines }, simulation, hasRecovered } = this.#workload.cluster;
    const position = parseInt(id);
    const before = this.#position;
    simulation.trace(`${this.#name} has ${id} after ${before}`);
    const from = before ?? position;
    const wanted = lines.slice(from, position).filter((line) => isWanted(line, this.#filter));
    if (position < (before ?? this.#startPosition) || id !== idAt(this.#workload, position)) {
      this.#violate(`gets the id ${id} after ${before ?? `now, ${this.#startPosition}`}`);
    } else if (given !== `[${wanted.map(textForClients).join(",")}]`) {
      this.#violate(`gets from ${before} to ${position} not ${wanted.length} events, but ${given}`);
    }
    const isLate = ({ at, node }: CommittedLine) =>
      at > this.#startAt && simulation.now - at > (node === this.#node ? OWN_LAG_MS : LAG_MS);
    const late = hasRecovered ? wanted.find(isLate) : undefined;
    if (late !== undefined) {
      this.#violate(`gets ${late.position} after ${simulation.now - late.at} ms`);
    }
    const revoked = lines.find(({ event: { type, time, data } }) =>
      type === "ApiKeyRevoked" && data.keyId === this.#key.keyId && data.effectiveAt <= time
    );
    if (revoked !== undefined && position >= revoked.position) {
      this.#violate(`gets ${id} although its key was revoked at ${revoked.position}`);
    }
    this.#position = position;
    this.#id = id;
  }

  #violate(what: string): void {
    const filter = JSON.stringify(this.#filter);
    const sender = `key ${this.#key.keyId}, node ${this.#node?.name}`;
    const text = `${this.#name} ${shortened(what)}; filter ${filter}, ${sender}`;
    this.#workload.cluster.violations.push(text);
  }
}

function isWanted({ event: { type, data } }: CommittedLine, filter: Filter): boolean {
  return /^(Pet|Category)/.test(type) && type === (filter.type ?? type) &&
    [data.status, data.previous?.status, undefined].includes(filter.status);
}

/** The id of the line at a position of the true log. */
function idAt({ cluster: { oracle } }: Workload, position: number): string {
  return feedIdOf(oracle.lines[position - 1] ?? { position });
}

/** An event as the feed shows it: with another id, and without the members that concern only the log. */
export function textForClients(line: CommittedLine): string {
  return line.text.replace(`"id":"${line.event.id}"`, `"id":"${feedIdOf(line)}"`)
    .replace(/"predecessor":"\d+",/, "")
    .replace(/,"actor":.*?"previoushash":"\w{64}"/s, ',"datacontenttype":"application/json"');
}
