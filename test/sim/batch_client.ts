/** Clients that send several writes with one request. The checker sees them as single requests. */

import type { Batch } from "./batch.ts";
import type { KeyInUse, WriteOperation } from "./history.ts";
import type { Random } from "./random.ts";
import {
  drawRemoval,
  drawRestore,
  drawUpdate,
  noteResponse,
  PET_STATUSES,
  type Workload,
} from "./workload.ts";

/** Maximum number of batches that a client sends in a round. */
const BATCHES = 10;

/** Range of the time after which a client sends a batch again, in milliseconds. */
const RETRY_AFTER_MS = { low: 200, high: 12_000 };

/** Draws the clients of a seed. Many seeds have none, so that they stay as they were before there were batches. */
export function drawBatchClients(workload: Workload, random: Random): BatchClient[] {
  const count = random.pick([0, 0, 0, 0, 1, 2]);
  return Array.from({ length: count }, (_, index) => {
    return new BatchClient(workload, index, random.fork());
  });
}

export class BatchClient {
  readonly #workload: Workload;
  readonly #name: string;
  readonly #random: Random;
  /** Number of batches so far. */
  #batches = 0;

  constructor(workload: Workload, index: number, random: Random) {
    this.#workload = workload;
    this.#name = `batch${index}`;
    this.#random = random;
  }

  /** Sends batches during faults. */
  async run(isOver: () => boolean): Promise<void> {
    const random = this.#random;
    const { simulation } = this.#workload.cluster;
    const pauseMs = random.pick([5, 100, 1_000]);
    for (let number = 0; number < BATCHES && !isOver(); number++) {
      await simulation.sleep(random.between(0, 2 * pauseMs));
      await this.#act();
    }
  }

  /** Sends a batch to each instance without faults. */
  async finish(): Promise<void> {
    const { cluster, keys: [key] } = this.#workload;
    for (let slot = 0; slot < cluster.size; slot++) await this.#send(this.#draw(), key, slot);
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const { cluster: { simulation }, keys } = this.#workload;
    const key = random.chance(0.2) ? random.pick(keys) : keys[0];
    const batch = this.#draw();
    if (random.chance(0.2)) return void await this.#send(batch, key);
    const once: Batch = { ...batch, idempotencyKey: `key-of-${this.#name}-${this.#batches}` };
    for (let attempt = 0; attempt < 5; attempt++) {
      const sent = this.#send(once, key);
      if (random.chance(0.2)) void this.#send(once, key);
      const timeout = simulation.sleep(random.between(RETRY_AFTER_MS.low, RETRY_AFTER_MS.high));
      const isDone = await Promise.race([sent, timeout]);
      if (isDone) break;
      await simulation.sleep(random.between(0, 500));
    }
    if (random.chance(0.3)) await this.#send(once, key);
    // Another batch with the same Idempotency-Key.
    if (random.chance(0.2)) await this.#send({ ...once, writes: once.writes.slice(1) }, key);
  }

  /** Draws writes, often several of one pet. */
  #draw(): Batch {
    const random = this.#random;
    const workload = this.#workload;
    this.#batches++;
    const { petId } = drawUpdate(workload, random);
    const drawId = () => random.chance(0.4) ? petId : undefined;
    const count = random.integer(2, 8);
    const writes = Array.from({ length: count }, (_, index): WriteOperation => {
      const kind = random.weighted({ create: 3, update: 5, remove: 1, restore: 1 });
      if (kind === "update") return drawUpdate(workload, random, drawId(), random.chance(0.4));
      if (kind === "remove") return drawRemoval(workload, random, drawId());
      if (kind === "restore") return drawRestore(workload, random, drawId());
      const name = `${this.#name}-${this.#batches}-${index}`;
      const status = random.pick([undefined, ...PET_STATUSES]);
      return { kind, name, categoryId: random.integer(-2, 2), status };
    });
    return { writes };
  }

  /** Resolves to whether each write has an outcome that is final. */
  async #send(batch: Batch, key: KeyInUse, slot = this.#drawSlot()): Promise<boolean> {
    const { cluster } = this.#workload;
    const exchanges = await cluster.sendBatch(slot, batch, key);
    if (exchanges === undefined) {
      await cluster.simulation.sleep(50);
      return false;
    }
    for (const exchange of exchanges) {
      if (exchange.response !== undefined) noteResponse(this.#workload, exchange);
    }
    return exchanges.every(({ response }) => response !== undefined && response.status !== 503);
  }

  #drawSlot(): number {
    return this.#random.integer(0, this.#workload.cluster.size - 1);
  }
}
