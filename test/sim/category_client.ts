/** Clients that name, rename, remove and read categories. The checker compares what they get with the oracle's log. */

import type { CategoryWrite, Exchange, KeyInUse, Operation } from "./history.ts";
import type { Random } from "./random.ts";
import type { Workload } from "./workload.ts";

/** Few, so that clients meet. */
const CATEGORY_IDS = [-1, 0, 7];
const CATEGORY_NAMES = ["Dogs", "dogs", "Cats", "cAts", "Owls"];

/** Maximum number of times that a client sends requests in a round. */
const REQUESTS = 30;

/** Draws the clients of a seed. Many seeds have none, so that they stay as they were before there were categories. */
export function drawCategoryClients(workload: Workload, random: Random): CategoryClient[] {
  const count = random.pick([0, 0, 0, 0, 1, 3]);
  return Array.from({ length: count }, (_, index) => {
    return new CategoryClient(workload, index, random.fork());
  });
}

export class CategoryClient {
  #workload: Workload;
  #name: string;
  #random: Random;
  /** Number of requests so far with an Idempotency-Key. */
  #idempotent = 0;
  /** The newest response with a category, by its id. */
  #known = new Map<number, { etag: string; text: string }>();
  /** The newest response with the list. */
  #list: Operation["cached"];

  constructor(workload: Workload, index: number, random: Random) {
    this.#workload = workload;
    this.#name = `namer${index}`;
    this.#random = random;
  }

  /** Sends requests during faults, some of them together. */
  async run(isOver: () => boolean): Promise<void> {
    const random = this.#random;
    const { simulation } = this.#workload.cluster;
    const pauseMs = random.pick([5, 100, 1_000]);
    for (let number = 0; number < REQUESTS && !isOver(); number++) {
      await simulation.sleep(random.between(0, 2 * pauseMs));
      const count = random.weighted({ 1: 4, 2: 1, 5: 1 });
      const together = Array.from({ length: Number(count) }, () => this.#act());
      await Promise.all(together);
    }
  }

  /** Names, lists, and removes categories without faults, on each instance. */
  async finish(): Promise<void> {
    const { cluster, keys: [key] } = this.#workload;
    for (let slot = 0; slot < cluster.size; slot++) {
      for (const kind of ["name", "list", "get", "remove", "name", "list"] as const) {
        await this.#send(this.#draw(kind), key, slot);
      }
    }
  }

  async #act(): Promise<void> {
    const random = this.#random;
    const { cluster, keys } = this.#workload;
    const kind = random.weighted({ name: 5, remove: 2, list: 3, get: 1 });
    const key = random.chance(0.4) ? random.pick(keys) : keys[0];
    const operation = this.#draw(kind);
    const slots = Array.from({ length: 2 }, () => random.integer(0, cluster.size - 1));
    const isWrite = kind === "name" || kind === "remove";
    if (!isWrite || random.chance(0.6)) return await this.#send(operation, key, slots[0]);
    this.#idempotent++;
    const idempotencyKey = `${this.#name}-${this.#idempotent}`;
    const once: Operation = { ...operation as CategoryWrite, idempotencyKey };
    // At once on two instances, or as a retry.
    const first = this.#send(once, key, slots[0]);
    if (random.chance(0.5)) await first;
    await Promise.all([first, this.#send(once, key, slots[1])]);
  }

  #draw(kind: "name" | "remove" | "list" | "get"): Operation {
    const random = this.#random;
    if (kind === "list") {
      const cached = random.chance(0.3) ? this.#list : undefined;
      return { kind: "listCategories", cached };
    }
    const categoryId = random.pick(CATEGORY_IDS);
    if (kind === "get") return { kind: "getCategory", categoryId };
    const target = { categoryId, ...this.#drawExpectation(categoryId) };
    if (kind === "remove") return { kind: "removeCategory", ...target };
    return { kind: "nameCategory", ...target, name: random.pick(CATEGORY_NAMES) };
  }

  #drawExpectation(
    categoryId: number,
  ): Pick<CategoryWrite, "ifMatch" | "expected" | "ifNoneMatch"> {
    const { etag, text } = this.#known.get(categoryId) ?? { etag: '"of-none"', text: "" };
    const expectations = {
      none: {},
      unnamed: { ifNoneMatch: "*" as const },
      known: { ifMatch: etag, expected: text },
      any: { ifMatch: "*" },
    };
    return expectations[this.#random.weighted({ none: 3, unnamed: 1, known: 2, any: 1 })];
  }

  async #send(operation: Operation, key: KeyInUse, slot: number): Promise<void> {
    const { cluster } = this.#workload;
    const exchange = await cluster.send(slot, operation, key);
    if (exchange === undefined) return await cluster.simulation.sleep(50);
    this.#note(exchange);
  }

  #note({ operation, response }: Exchange): void {
    const etag = response?.headers.get("etag");
    if (response === undefined || !etag || ![200, 201].includes(response.status)) return;
    const { body } = response;
    if (operation.kind === "listCategories") this.#list = { etag, body, link: null };
    else this.#known.set(JSON.parse(body).id, { etag, text: body });
  }
}
