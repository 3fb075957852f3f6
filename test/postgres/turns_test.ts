import { assertEquals, assertGreater } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { APPLICATION } from "../../src/application.ts";
import { EventStore } from "../../src/eventstore_less/event_store.ts";
import { HEAD_KEY, TURN_REQUESTS } from "../../src/eventstore_less/keyspace.ts";
import { systemRuntime } from "../../src/eventstore_less/runtime/system_runtime.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { type Faults, faultyStore } from "../support/faulty_store.ts";
import { openDatabase, POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

/** An instance with clients that add pets, one after the other. */
interface Load {
  clients: number;
  startsAtMs?: number;
  /** How much longer each call of the store takes, in milliseconds. */
  extraMs?: number;
}

/** Time in which instances learn of each other, and time of the measurement, in milliseconds. */
const WARM_UP_MS = 2_000;
const MEASURED_MS = 4_000;

/** Runs instances on one database. Resolves to the number of events of each, its failures and its reads of the head. */
async function share(loads: readonly Load[]) {
  const url = server().url(await server().createDatabase());
  let isOver = false;
  const running = loads.map(async ({ clients, startsAtMs = 0, extraMs = 0 }) => {
    const result = { done: 0, failed: 0, headReads: 0 };
    const delayed = async <T>(apply: () => Promise<T>) => {
      if (extraMs > 0) await sleep(extraMs / 2);
      const answer = await apply();
      if (extraMs > 0) await sleep(extraMs / 2);
      return answer;
    };
    const onGet: Faults["onGet"] = (apply, [name]) => {
      if (name === HEAD_KEY[0]) result.headReads++;
      return delayed(apply);
    };
    const opened = await openDatabase(url);
    const store = faultyStore(opened, { onGet, onList: delayed, onCommit: delayed });
    const { appender } = new EventStore(APPLICATION, store);
    await sleep(startsAtMs);
    const actor = systemRuntime.newId();
    const runClient = async () => {
      while (!isOver) {
        const command = addPetCommand(systemRuntime, actor, { name: "Rex", categoryId: 1n });
        await appender.append(command).then(() => result.done++, () => result.failed++);
      }
    };
    const ended = Promise.all(Array.from({ length: clients }, runClient));
    return { result, ended, store };
  });
  const instances = await Promise.all(running);
  await sleep(WARM_UP_MS);
  for (const { result } of instances) Object.assign(result, { done: 0, headReads: 0 });
  await sleep(MEASURED_MS);
  isOver = true;
  const shares = instances.map(({ result }) => ({ ...result }));
  await Promise.all(instances.map(({ ended }) => ended));
  const requests = await instances[0].store.list({ prefix: TURN_REQUESTS }, { limit: 9 });
  for (const { store } of instances) store.close();
  return { shares, requests };
}

test("an instance alone on a database waits for nobody, and leaves no turn request", async () => {
  const { shares: [{ done, failed, headReads }], requests } = await share([{ clients: 1 }]);
  assertEquals([failed, headReads, requests], [0, 0, []]);
  assertGreater(done, 0);
});

const busy: Load = { clients: 16 };
const late: Load = { clients: 16, startsAtMs: 2_000 };
const CASES: Record<string, Load[]> = {
  "two": [busy, busy],
  "two, of which one starts late and is slow": [busy, { ...late, extraMs: 8 }],
  "four": [busy, busy, busy, busy],
  "four, of which one starts late": [busy, busy, busy, late],
  "four, of which one starts late and is slow": [busy, busy, busy, { ...late, extraMs: 8 }],
};

/** Time is real here, and one busy second of the machine can take the turns of an instance. `sim/fairness_test` has no such time. */
const ATTEMPTS = 3;

for (const [name, loads] of Object.entries(CASES)) {
  test(`each of several instances on a database gets a third of an equal share: ${name}`, async () => {
    const leastParts: number[] = [];
    while (leastParts.length < ATTEMPTS && !leastParts.some((part) => part > 1 / 3)) {
      const { shares } = await share(loads);
      assertEquals(shares.map(({ failed }) => failed), loads.map(() => 0));
      const sum = shares.reduce((total, { done }) => total + done, 0);
      const least = Math.min(...shares.map(({ done }) => done));
      leastParts.push(least * loads.length / sum);
    }
    assertGreater(Math.max(...leastParts), 1 / 3, leastParts.join());
  });
}
