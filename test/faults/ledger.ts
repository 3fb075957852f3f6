import { assert, assertEquals } from "@std/assert";
import { audit } from "../../src/maintenance/audit.ts";
import { GENESIS_HASH } from "../../events/event.ts";
import { readWholeLog } from "../../src/log/read_whole_log.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import type { ServiceProcess } from "../support/service_process.ts";
import type { TempStore } from "../support/temp_store.ts";

/** Longest time that a client waits for an answer, in milliseconds; a stopped process gives none. */
const RETRY_LIMIT_MS = 20_000;

/** What clients asked for, each animal under a name of its own, and what they were told. */
export class Ledger {
  readonly acknowledged = new Map<string, number>();
  /** May have been added: the answer said so, or there was none. */
  readonly unclear = new Set<string>();
  /** The answer said that nothing was stored. */
  readonly refused = new Set<string>();
  /** Answers that nobody may be given. */
  readonly strange: string[] = [];
  #count = 0;

  /** Adds one animal, and writes down what came of it. Resolves to the status, where there was one. */
  async add(service: ServiceProcess, token: string): Promise<number | undefined> {
    const name = `animal ${++this.#count}`;
    let status: number;
    let answer: { id: number; code: string; message: string; status: number };
    try {
      const response = await service.send("/v1/pets", token, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name, categoryId: 1, status: "available" }),
        signal: AbortSignal.timeout(RETRY_LIMIT_MS),
      });
      status = response.status;
      answer = await response.json();
    } catch {
      this.unclear.add(name);
      return undefined;
    }
    if (status === 201) this.acknowledged.set(name, answer.id);
    else if (status === 503 && answer.status === 503 && answer.message !== undefined) {
      (answer.code === "outcome_unknown" ? this.unclear : this.refused).add(name);
    } else this.strange.push(`${status} ${JSON.stringify(answer)}`);
    return status;
  }

  /** Adds animals, so many at once, until `isOver`. `services` are those that run just now. */
  async addMany(
    services: () => ServiceProcess[],
    token: string,
    parallel: number,
    isOver: () => boolean,
  ): Promise<void> {
    const worker = async (index: number) => {
      while (!isOver()) {
        const running = services();
        const service = running[index % running.length];
        const status = service === undefined ? undefined : await this.add(service, token);
        // Who was refused, or found nobody, comes back a little later.
        if (status !== 201) await new Promise((resolve) => setTimeout(resolve, 20));
      }
    };
    await Promise.all(Array.from({ length: parallel }, (_, index) => worker(index)));
  }

  /**
   * Acknowledged animals are there once, under their ids; refused ones are not there, unclear ones at
   * most once; the log is whole, and the audit finds nothing.
   */
  async expectKept(service: ServiceProcess, token: string, store: TempStore): Promise<void> {
    assertEquals(this.strange, []);
    const names = new Map<string, number>();
    for (let path: string | undefined = "/v1/pets?limit=100"; path !== undefined;) {
      const response: Response = await service.send(path, token);
      assertEquals(response.status, 200);
      for (const { id, name } of await response.json()) {
        assert(!names.has(name), `${name} is there twice`);
        assert(
          this.acknowledged.has(name) || this.unclear.has(name),
          `${name} is there, and was ${this.refused.has(name) ? "refused" : "never asked for"}`,
        );
        names.set(name, id);
      }
      path = /^<(.+)>; rel="next"$/.exec(response.headers.get("link") ?? "")?.[1];
    }
    for (const [name, id] of this.acknowledged) assertEquals(names.get(name), id, name);
    await store.use(expectSound);
  }

  get summary(): string {
    return `${this.acknowledged.size} acknowledged, ${this.unclear.size} unclear, ${this.refused.size} refused`;
  }
}

/** The chain as anybody outside can check it, and everything else by an audit. */
async function expectSound(
  { store, runtime, heads }: Parameters<Parameters<TempStore["use"]>[0]>[0],
): Promise<void> {
  const { position } = (await heads.fresh()).head;
  let hash = GENESIS_HASH;
  let due = 1;
  for await (const batch of readWholeLog(store, { from: 1, to: position })) {
    for (const { value } of batch) {
      const { previoushash, sequence } = JSON.parse(new TextDecoder().decode(value));
      assertEquals([previoushash, Number(sequence)], [hash, due++]);
      hash = sha256Hex(value);
    }
  }
  const { sound, faults } = await audit({ store, runtime });
  assert(sound, JSON.stringify(faults));
}
