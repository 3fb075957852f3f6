/** Clients that write and read during faults what `HABITS` says. The checker compares what they get with the oracle's log. */

import { drawAnother, drawPetId, DRAWS, HABITS, type Habits, type Write, WRITES } from "./draws.ts";
import {
  type CachedResponse,
  type Exchange,
  isWrite,
  type KeyInUse,
  type ReadOperation,
} from "./history.ts";
import type { Random } from "./random.ts";
import { send, type Workload } from "./workload.ts";

/** Range of the time after which a client sends a request again, in milliseconds. */
const RETRY_AFTER_MS = { low: 200, high: 12_000 };

/** Maximum number of requests that a client sends at the same moment. */
const RACE_LIMIT = 8;

export async function runClient(workload: Workload, name: string, count: number): Promise<void> {
  const random = workload.cluster.simulation.random.fork();
  const client = new Client(workload, name, random);
  const pauseMs = random.pick([1, 10, 100, 1_000]);
  for (let number = 0; number < count; number++) {
    await workload.cluster.simulation.sleep(random.between(0, 2 * pauseMs));
    await client.act(number);
  }
}

class Client {
  #workload: Workload;
  #name: string;
  #random: Random;
  /** The preferred instance, as with sticky sessions of a load balancer. */
  #home: number;
  /** Responses to earlier reads, by request. */
  #cached = new Map<string, CachedResponse>();

  constructor(workload: Workload, name: string, random: Random) {
    this.#workload = workload;
    this.#name = name;
    this.#random = random;
    this.#home = random.integer(0, workload.cluster.size - 1);
  }

  async act(number: number): Promise<void> {
    const random = this.#random;
    const name = `${this.#name}-${number}`;
    const habits = HABITS[random.weighted(this.#workload.kinds)];
    const drawWrite = () =>
      WRITES[random.weighted(habits.writes)](this.#workload, random, { name });
    const action = random.weighted(habits.actions);
    const actions: Record<typeof action, () => Promise<unknown>> = {
      write: () => this.#send(drawWrite()),
      writeWithKey: () => this.#writeWithKey(drawWrite(), name),
      repeat: () => this.#repeat(),
      race: () => this.#race(habits.race, name),
      read: () => this.#send(this.#draw(habits.reads, name)),
    };
    await actions[action]();
  }

  /** Retries with its Idempotency-Key until it knows the outcome, sometimes twice at once. */
  async #writeWithKey(drawn: Write, name: string): Promise<void> {
    const random = this.#random;
    const { cluster: { simulation }, idempotentWrites } = this.#workload;
    const write: Write = { ...drawn, idempotencyKey: `key-of-${name}` };
    const key = this.#drawKey();
    idempotentWrites.push({ write, key });
    for (let attempt = 0; attempt < 6; attempt++) {
      const sent = this.#send(write, key);
      if (random.chance(0.2)) void this.#send(write, key);
      const timeout = simulation.sleep(random.between(RETRY_AFTER_MS.low, RETRY_AFTER_MS.high));
      const exchanges = await Promise.race([sent, timeout]);
      if (exchanges !== undefined && isOutcome(exchanges)) break;
      await simulation.sleep(random.between(0, 500));
    }
    // A client may repeat the request much later, or reuse the key for another request.
    if (random.chance(0.3)) await this.#send(write, key);
    if (random.chance(0.15)) {
      const other = drawAnother(drawn, this.#workload, random, { name: `${name}-other` });
      await this.#send({ ...other, idempotencyKey: write.idempotencyKey }, key);
    }
  }

  /** Repeats a request of any client, perhaps on the next day, when the Idempotency-Key has expired and writes again. */
  async #repeat(): Promise<void> {
    const { idempotentWrites } = this.#workload;
    if (idempotentWrites.length === 0) return;
    const { write, key } = this.#random.pick(idempotentWrites);
    await this.#send(write, key);
  }

  /** Sends several requests at once, all of one pet if they are of pets. */
  async #race(weights: Habits["race"], name: string): Promise<void> {
    const random = this.#random;
    const { cluster } = this.#workload;
    const petId = drawPetId(this.#workload, random);
    const requests: (Write | ReadOperation)[] = [];
    do {
      const request = this.#draw(weights, `${name}-${requests.length}`, petId);
      requests.push(request);
      // Often the same removal twice.
      const isRemoval = request.kind === "remove" || request.kind === "removeCategory";
      if (isRemoval && random.chance(0.5)) requests.push(request);
    } while (requests.length < RACE_LIMIT && random.chance(0.8));
    const drawSlot = () => random.integer(0, cluster.size - 1);
    // One instance that gets them together puts several events of a pet into one commit.
    const sharedSlot = random.chance(0.5) ? drawSlot() : undefined;
    await Promise.all(requests.map(async (request) => {
      const isTogether = sharedSlot !== undefined && isWrite(request);
      const isLater = !isTogether && random.chance(0.5);
      if (isLater) await cluster.simulation.sleep(random.between(0, 20));
      await this.#send(request, this.#drawKey(), sharedSlot ?? drawSlot());
    }));
  }

  /** Draws a request, which is often a read that the client has sent before. */
  #draw(weights: Habits["race"], name: string, petId?: number): Write | ReadOperation {
    const random = this.#random;
    const kind = random.weighted(weights);
    const earlier = [...this.#cached.keys()].filter((text) => JSON.parse(text).kind === kind);
    if (earlier.length > 0 && random.chance(0.3)) return JSON.parse(random.pick(earlier));
    return DRAWS[kind](this.#workload, random, { name, petId });
  }

  /** Sends a request, a read with the response that the client has of it. */
  async #send(
    request: Write | ReadOperation,
    key = this.#drawKey(),
    slot = this.#drawSlot(),
  ): Promise<Exchange[]> {
    const name = JSON.stringify(request);
    const cached = this.#cached.get(name);
    const sent = cached === undefined ? request : { ...request, cached };
    const exchanges = await send(this.#workload, slot, sent, key);
    if (exchanges.length === 0) await this.#workload.cluster.simulation.sleep(50);
    for (const exchange of exchanges) this.#note(name, exchange);
    return exchanges;
  }

  #note(name: string, { operation, response }: Exchange): void {
    if (response?.status !== 200 || isWrite(operation)) return;
    const { headers, body } = response;
    const etag = headers.get("etag");
    if (etag !== null) this.#cached.set(name, { etag, body, link: headers.get("link") });
  }

  #drawSlot(): number {
    const random = this.#random;
    return random.chance(0.7) ? this.#home : random.integer(0, this.#workload.cluster.size - 1);
  }

  #drawKey(): KeyInUse {
    const { keys } = this.#workload;
    return this.#random.chance(0.4) ? this.#random.pick(keys) : keys[0];
  }
}

/** Whether each write of a request has an outcome that is final. */
function isOutcome(exchanges: Exchange[]): boolean {
  return exchanges.length > 0 &&
    exchanges.every(({ response }) => response !== undefined && response.status !== 503);
}
