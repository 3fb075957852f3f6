import {
  type CachedResponse,
  type CreateOperation,
  type Exchange,
  FIRST_TAG,
  isPetWrite,
  type KeyInUse,
  type ListOperation,
  type Operation,
  type WriteOperation,
} from "./history.ts";
import type { Random } from "./random.ts";
import {
  drawRemoval,
  drawRestore,
  drawUpdate,
  noteResponse,
  PET_STATUSES,
  type Workload,
} from "./workload.ts";

/** Range of the time after which a client sends a request again, in milliseconds. */
const RETRY_AFTER_MS = { low: 200, high: 12_000 };

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
    const action = random.weighted({
      create: 4,
      update: 4,
      createWithKey: 3,
      updateWithKey: 2,
      remove: 1,
      removeWithKey: 0.7,
      restore: 1,
      restoreWithKey: 0.7,
      repeat: 1,
      race: 2,
      list: 6,
      get: 3,
    });
    const name = `${this.#name}-${number}`;
    const { idempotentWrites, newestPetId } = this.#workload;
    const actions: Record<typeof action, () => Promise<unknown>> = {
      create: () => this.#send(this.#drawCreate(name)),
      update: () => this.#send(drawUpdate(this.#workload, random)),
      createWithKey: () => this.#writeWithKey(this.#drawCreate(name), name),
      updateWithKey: () => this.#writeWithKey(drawUpdate(this.#workload, random), name),
      remove: () => this.#send(drawRemoval(this.#workload, random)),
      removeWithKey: () => this.#writeWithKey(drawRemoval(this.#workload, random), name),
      restore: () => this.#send(drawRestore(this.#workload, random)),
      restoreWithKey: () => this.#writeWithKey(drawRestore(this.#workload, random), name),
      // This may be the next day, when the Idempotency-Key has expired and writes again.
      repeat: async () => {
        if (idempotentWrites.length === 0) return;
        const { operation, key } = random.pick(idempotentWrites);
        await this.#send(operation, key);
      },
      race: () => this.#race(name),
      list: () => this.#send(this.#drawList()),
      get: () => this.#send({ kind: "get", petId: random.integer(1, newestPetId + 2) }),
    };
    await actions[action]();
  }

  /** Changes a pet several times at once, perhaps removes or restores it, and reads meanwhile. */
  async #race(name: string): Promise<void> {
    const random = this.#random;
    const update = drawUpdate(this.#workload, random);
    const { petId } = update;
    const operations: Operation[] = [update];
    while (operations.length < 8 && random.chance(0.8)) {
      const kind = random.weighted({
        update: 4,
        remove: 0.5,
        restore: 0.5,
        get: 1,
        list: 3,
        create: 1,
      });
      if (kind === "update") operations.push(drawUpdate(this.#workload, random, petId));
      else if (kind === "remove") {
        // Often two at once.
        const removal = drawRemoval(this.#workload, random, petId);
        operations.push(removal, ...(random.chance(0.5) ? [removal] : []));
      } else if (kind === "restore") {
        operations.push(drawRestore(this.#workload, random, petId));
      } else if (kind === "get") operations.push({ kind, petId });
      else if (kind === "list") operations.push(this.#drawList());
      else operations.push(this.#drawCreate(`${name}-${operations.length}`));
    }
    const { cluster } = this.#workload;
    const drawSlot = () => random.integer(0, cluster.size - 1);
    // One instance that gets them together puts several events of a pet into one commit.
    const sharedSlot = random.chance(0.5) ? drawSlot() : undefined;
    await Promise.all(operations.map(async (operation) => {
      const isTogether = sharedSlot !== undefined && isPetWrite(operation);
      const isLater = !isTogether && random.chance(0.5);
      if (isLater) await cluster.simulation.sleep(random.between(0, 20));
      await this.#send(operation, this.#drawKey(), sharedSlot ?? drawSlot());
    }));
  }

  #drawCreate(name: string): CreateOperation {
    const random = this.#random;
    const status = random.chance(0.3) ? undefined : random.pick(PET_STATUSES);
    return { kind: "create", name, categoryId: random.integer(-2, 2), status };
  }

  #drawList(): ListOperation {
    const random = this.#random;
    const earlier = [...this.#cached.keys()].filter((text) => text.includes(`"list"`));
    if (earlier.length > 0 && random.chance(0.3)) return JSON.parse(random.pick(earlier));
    const { newestPetId, tags } = this.#workload;
    const operation: ListOperation = { kind: "list" };
    if (random.chance(0.1)) {
      const ids = Array.from({ length: 5 }, () => random.integer(1, newestPetId + 2));
      return { ...operation, ids: ids.slice(random.integer(0, 4)) };
    }
    if (random.chance(0.15)) return this.#drawRemovedList();
    if (random.chance(0.25)) operation.categoryId = random.integer(-2, 2);
    else if (random.chance(0.1)) operation.categoryId = FIRST_TAG + random.integer(0, tags);
    if (random.chance(0.6)) operation.limit = random.pick([1, 2, 5, 100]);
    if (random.chance(0.5)) operation.status = random.pick(PET_STATUSES);
    if (random.chance(0.3)) operation.cursor = random.integer(1, newestPetId + 3);
    if (random.chance(0.2)) operation.order = random.pick(["asc", "desc"]);
    if (random.chance(0.15)) operation.name = String(random.integer(0, 9));
    return operation;
  }

  #drawRemovedList(): ListOperation {
    const random = this.#random;
    const operation: ListOperation = { kind: "list", removed: true };
    if (random.chance(0.6)) operation.limit = random.pick([1, 2, 5]);
    // A position: of two events for each pet.
    const last = 2 * this.#workload.newestPetId + 3;
    if (random.chance(0.3)) operation.cursor = random.integer(1, last);
    return operation;
  }

  /** Retries with its Idempotency-Key until it knows the outcome, sometimes twice at once. */
  async #writeWithKey(drawn: WriteOperation, name: string): Promise<void> {
    const random = this.#random;
    const operation: WriteOperation = { ...drawn, idempotencyKey: `key-of-${name}` };
    const key = this.#drawKey();
    this.#workload.idempotentWrites.push({ operation, key });
    for (let attempt = 0; attempt < 6; attempt++) {
      const sent = this.#send(operation, key);
      if (random.chance(0.2)) void this.#send(operation, key);
      const timeout = this.#workload.cluster.simulation.sleep(
        random.between(RETRY_AFTER_MS.low, RETRY_AFTER_MS.high),
      );
      const exchange = await Promise.race([sent, timeout]);
      const status = exchange?.response?.status;
      if (status !== undefined && status !== 503) break;
      await this.#workload.cluster.simulation.sleep(random.between(0, 500));
    }
    // A client may repeat the request much later, or reuse the key for another request.
    if (random.chance(0.3)) await this.#send(operation, key);
    if (random.chance(0.15)) {
      const { newestPetId } = this.#workload;
      const other = random.chance(0.4)
        ? this.#drawCreate(`${name}-other`)
        : random.chance(0.5)
        ? drawUpdate(this.#workload, random, undefined, true)
        : drawRemoval(
          this.#workload,
          random,
          drawn.kind === "remove" ? drawn.petId + 1 : newestPetId,
        );
      await this.#send({ ...other, idempotencyKey: operation.idempotencyKey }, key);
    }
  }

  async #send(
    operation: Operation,
    key = this.#drawKey(),
    slot = this.#drawSlot(),
  ): Promise<Exchange | undefined> {
    const { cluster } = this.#workload;
    const name = JSON.stringify(operation);
    const cached = this.#cached.get(name);
    const exchange = await cluster.send(slot, { ...operation, cached }, key);
    if (exchange === undefined) {
      await cluster.simulation.sleep(50);
      return undefined;
    }
    if (exchange.response === undefined) return exchange;
    const { status, headers, body } = exchange.response;
    const etag = headers.get("etag");
    if (status === 200 && etag) this.#cached.set(name, { etag, body, link: headers.get("link") });
    noteResponse(this.#workload, exchange);
    return exchange;
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
