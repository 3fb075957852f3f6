/** Consumers of several instances on one store, whose time passes only on request. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  type ConsumerHandle,
  type ConsumerHandler,
  type ConsumerOptions,
  dataOf,
  defineApplication,
  defineCollection,
  type EventBodyOf,
  EventStore,
  openEventStore,
  type RecordedData,
  ServiceError,
} from "eventstore-less";
import type { Store } from "eventstore-less/store";
import { FakeRuntime, openMemoryStore } from "eventstore-less/testing";
import {
  audit,
  placeConsumer,
  readConsumers,
  replay,
  status,
  ToolError,
} from "eventstore-less/tools";
import { z } from "zod";
import { decodeConsumerRecord } from "../../../src/eventstore_less/consumers/consumer_record.ts";
import { consumersKey } from "../../../src/eventstore_less/keyspace.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreRefusedError,
} from "../../../src/eventstore_less/store/store_errors.ts";
import { sleep } from "../../../src/eventstore_less/runtime/runtime.ts";
import { Random } from "../../sim/random.ts";
import { type FaultyStore, faultyStore, hold } from "../../support/faulty_store.ts";
import { VALUE_BYTES_LIMIT } from "../../../src/eventstore_less/store/store.ts";
import { put } from "../../support/store_contract.ts";
import { sharedStore } from "../../support/shared_store.ts";

const Note = z.strictObject({ id: z.string() });

function recordsOf({ event, line }: RecordedData<z.infer<typeof Note>>) {
  return [{ key: ["note", event.data.id], content: dataOf(line) }];
}

const NOTES = defineCollection({
  name: "notes",
  events: {
    NoteAdded: { data: Note, isFirst: true, project: recordsOf },
    DraftAdded: { data: Note, isFirst: true, project: recordsOf },
  },
  kinds: { note: { key: ["text"] } },
});
const application = defineApplication({ name: "Notes", collections: [NOTES] });
type NoteBody = EventBodyOf<typeof application>;

/** The time after which another instance has taken over for certain, in milliseconds. */
const TAKE_OVER_MS = 12_000;

/** An instance with a consumer, and what that got. */
class Instance {
  readonly faults: FaultyStore;
  readonly store: EventStore<NoteBody>;
  readonly got: number[] = [];
  /** Positions that the handler refuses. */
  readonly refused = new Set<number>();
  consumer!: ConsumerHandle;

  constructor(memory: Store, runtime: FakeRuntime) {
    this.faults = faultyStore(runtime.awaited(sharedStore(memory)));
    this.store = new EventStore(application, this.faults, { runtime });
  }

  consume(options: ConsumerOptions<NoteBody> = {}, name = "mailer"): void {
    this.consumer = this.store.consume(name, ({ position }) => {
      if (this.refused.has(position)) throw new Error("The server is away");
      this.got.push(position);
    }, options);
  }

  /** From now on, the store does not answer this instance, as if it had ended or lost its network. */
  cutOff(): void {
    const fail = () => Promise.reject(new StoreAwayError("away"));
    this.faults.onGet = fail;
    this.faults.onList = fail;
    this.faults.onSnapshot = fail;
    this.faults.onCommit = fail;
  }
}

async function loseAnswer(apply: () => Promise<string | null>): Promise<never> {
  await apply();
  throw new StoreAwayError("away");
}

class World implements AsyncDisposable {
  readonly runtime = new FakeRuntime();
  readonly memory: Store;
  readonly instances: Instance[] = [];
  #added = 0;

  private constructor(memory: Store) {
    this.memory = memory;
  }

  static async open(): Promise<World> {
    return new World(await openMemoryStore());
  }

  start(options?: ConsumerOptions<NoteBody>, name?: string): Instance {
    const instance = new Instance(this.memory, this.runtime);
    instance.consume(options, name);
    this.instances.push(instance);
    return instance;
  }

  /** Adds notes by an instance of its own, which consumes nothing. */
  async add(count: number, type: NoteBody["type"] = "NoteAdded"): Promise<void> {
    const { store } = new Instance(this.memory, this.runtime);
    for (let index = 0; index < count; index++) {
      const id = String(++this.#added);
      await this.runtime.settle(store.append({ decide: () => [{ type, data: { id } }] }));
    }
    await this.runtime.settle(store.close());
  }

  advance(ms: number): Promise<void> {
    return this.runtime.advance(ms);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.instances.map(({ store }) => this.runtime.settle(store.close())));
    this.memory.close();
  }
}

const tool = ({ memory: store, runtime }: World) => ({ application, store, runtime });

/** The name and the position of each consumer in the store. */
async function placesIn(world: World): Promise<[string, number | undefined][]> {
  return (await readConsumers(tool(world))).map(({ name, position }) => [name, position]);
}

Deno.test("a consumer gets the events in order, remembers its place, and continues after it", async () => {
  await using world = await World.open();
  const first = world.start();
  await world.advance(1_000);
  await world.add(3);
  await world.advance(2_000);
  assertEquals(first.got, [1, 2, 3]);
  assertEquals(first.consumer.state, { state: "working", position: 3, failing: undefined });
  await world.runtime.settle(first.store.close());
  await world.add(2);
  const second = world.start();
  await world.advance(2_000);
  assertEquals(second.got, [4, 5]);
  const [report] = await readConsumers(tool(world));
  assertEquals(report, {
    name: "mailer",
    position: 5,
    lag: 0,
    failing: undefined,
    hasHolder: true,
    isStopped: false,
  });
});

Deno.test("a consumer of some types passes the others, and its place passes them, too", async () => {
  await using world = await World.open();
  const { got, consumer } = world.start({ types: ["DraftAdded"] });
  await world.advance(1_000);
  await world.add(2);
  await world.add(1, "DraftAdded");
  await world.add(1);
  await world.advance(2_000);
  assertEquals(got, [3]);
  assertEquals(consumer.state.position, 4);
});

Deno.test("an event that the handler refuses comes again with growing pauses, before the next one, and others wait for nothing", async () => {
  await using world = await World.open();
  const instance = world.start();
  const others: number[] = [];
  instance.store.consume("other", ({ position }) => void others.push(position));
  let calls = 0;
  const sibling: number[] = [];
  instance.store.consume("mailer/2", ({ position }) => void sibling.push(position));
  instance.refused.add(2);
  await world.advance(1_000);
  await world.add(3);
  await world.advance(2_000);
  assertEquals([instance.got, others, sibling], [[1], [1, 2, 3], [1, 2, 3]]);
  const { failing } = instance.consumer.state;
  assertEquals(failing?.reason, "The server is away");
  const [before] = await readConsumers(tool(world));
  assertEquals([before.name, before.position, before.lag], ["mailer", 1, 2]);
  calls = failing!.attempts;
  await world.advance(60_000);
  const later = instance.consumer.state.failing!;
  assertEquals(later.since, failing!.since);
  // After pauses of 1.5, 3, 6, 12 and 24 seconds.
  assert(later.attempts > calls && later.attempts <= calls + 6, `${later.attempts} attempts`);
  instance.refused.clear();
  instance.consumer.retry();
  await world.advance(100);
  assertEquals(instance.got, [1, 2, 3]);
  assertEquals(instance.consumer.state.failing, undefined);
});

Deno.test("one instance works at a time, and another goes on within seconds after it was closed, or cut off", async () => {
  await using world = await World.open();
  const [first, second, third] = [world.start(), world.start(), world.start()];
  await world.advance(1_000);
  await world.add(2);
  await world.advance(5_000);
  assertEquals([first.got, second.got, third.got], [[1, 2], [], []]);
  assertEquals(second.consumer.state, { state: "waiting" });
  await world.runtime.settle(first.store.close());
  await world.advance(1_500);
  await world.add(1);
  await world.advance(2_000);
  const heir = second.got.length > 0 ? second : third;
  assertEquals([...second.got, ...third.got], [3]);
  heir.cutOff();
  await world.add(1);
  await world.advance(TAKE_OVER_MS);
  const last = heir === second ? third : second;
  assertEquals(last.got, [4]);
  assertEquals(heir.consumer.state, { state: "waiting" });
});

Deno.test("an instance that is cut off ends the call of its handler before another one begins", async () => {
  await using world = await World.open();
  const first = world.start();
  let abortedAt = Infinity;
  first.store.consume("slow", (_event, { signal }) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => {
      abortedAt = world.runtime.monotonicNow();
      resolve();
    });
    return promise;
  });
  await world.advance(1_000);
  await world.add(1);
  await world.advance(3_000);
  const second = new Instance(world.memory, world.runtime);
  world.instances.push(second);
  let begunAt = Infinity;
  second.store.consume("slow", () => {
    begunAt = world.runtime.monotonicNow();
  });
  await world.advance(2_000);
  first.cutOff();
  await world.advance(2 * TAKE_OVER_MS);
  assert(abortedAt < begunAt && begunAt < Infinity, `aborted ${abortedAt}, begun ${begunAt}`);
});

Deno.test("a write of an instance that another one has followed changes nothing", async () => {
  await using world = await World.open();
  const first = world.start();
  await world.advance(1_000);
  const { promise: isLate, resolve: send } = Promise.withResolvers<void>();
  let late: Promise<string | null> | undefined;
  first.faults.onCommit = (_apply, commit) => {
    // The commit is under way for long, and then lands if it can.
    late = isLate.then(() => world.memory.commit(commit));
    late.catch(() => {});
    return Promise.reject(new StoreAwayError("away"));
  };
  await world.add(1);
  await world.advance(1_500);
  first.cutOff();
  const second = world.start();
  await world.advance(TAKE_OVER_MS);
  const before = await world.memory.get(consumersKey("mailer"));
  send();
  assertEquals(await late, null);
  assertEquals(
    (await world.memory.get(consumersKey("mailer")))?.versionstamp,
    before?.versionstamp,
  );
  assertEquals(second.consumer.state.state, "working");
});

Deno.test("in a store that had events before its consumers, one is stopped until an operator names its place", async () => {
  await using world = await World.open();
  await world.add(5);
  const { got, consumer } = world.start();
  const begun = world.start({ after: 5 }, "mailer/new");
  await world.advance(2_000);
  const reason = "It has no place in this log, which had 5 events before it, as after a restore";
  assertEquals(consumer.state, { state: "stopped", reason });
  await world.add(1);
  await world.advance(3_000);
  assertEquals(got, []);
  await world.runtime.settle(placeConsumer(tool(world), "mailer", 3));
  await world.advance(TAKE_OVER_MS);
  assertEquals(got, [4, 5, 6]);
  assertEquals(begun.got.length + (begun.consumer.state.state === "waiting" ? 1 : 0), 1);
});

Deno.test("an operator moves a consumer that works, and the others stay where they are", async () => {
  await using world = await World.open();
  const instance = world.start();
  const others: number[] = [];
  instance.store.consume("mailer/2", ({ position }) => void others.push(position));
  await world.advance(1_000);
  await world.add(4);
  await world.advance(3_000);
  await world.runtime.settle(placeConsumer(tool(world), "mailer", 2));
  await world.advance(5_000);
  assertEquals(instance.got, [1, 2, 3, 4, 3, 4]);
  assertEquals(others, [1, 2, 3, 4]);
  const refused = await placeConsumer(tool(world), "mailer", 9).catch((error) => error);
  assert(refused instanceof ToolError && refused.code === "not_found", String(refused));
});

Deno.test("the store says which consumers are stopped, also after their instance has ended, until a place is named or they are forgotten", async () => {
  await using world = await World.open();
  await world.add(5);
  const instance = world.start();
  const other = instance.store.consume("mailer/other", () => {});
  await world.advance(3_000);
  const stoppedIn = async () => {
    const reports = await readConsumers(tool(world));
    return reports.filter(({ isStopped }) => isStopped).map(({ name, lag }) => [name, lag]);
  };
  assertEquals(await stoppedIn(), [["mailer", 5], ["mailer/other", 5]]);
  assertEquals((await status(tool(world))).consumers?.map(({ isStopped }) => isStopped), [
    true,
    true,
  ]);
  await world.runtime.settle(other.forget());
  await world.advance(2_000);
  assertEquals(await stoppedIn(), [["mailer", 5]]);
  await world.runtime.settle(instance.store.close());
  assertEquals(await stoppedIn(), [["mailer", 5]]);
  await world.runtime.settle(placeConsumer(tool(world), "mailer", 3));
  assertEquals(await stoppedIn(), []);
  const next = world.start();
  await world.advance(3_000);
  assertEquals([next.got, await stoppedIn()], [[4, 5], []]);
});

Deno.test("a consumer that begins after registerConsumers() needs no place, and an earlier one does", async () => {
  await using world = await World.open();
  await world.add(5);
  const instance = new Instance(world.memory, world.runtime);
  world.instances.push(instance);
  await world.runtime.settle(instance.store.registerConsumers("mailer"));
  await world.add(2);
  await world.runtime.settle(instance.store.registerConsumers("mailer"));
  instance.consume({ after: 6 }, "mailer/new");
  const earlier = instance.store.consume("mailer/earlier", () => {}, { after: 4 });
  await world.advance(2_000);
  assertEquals([instance.got, earlier.state.state], [[7], "stopped"]);
  const needPlaces = [["mailer/new", 0], ["mailer/earlier", 4], ["mailer/later", 6]] as const;
  const needs = needPlaces.map(([name, after]) => instance.store.needsPlace(name, after));
  assertEquals(await world.runtime.settle(Promise.all(needs)), [false, true, false]);
  const refused = instance.store.registerConsumers("mailer/new");
  await assertRejects(() => refused, RangeError, "group");
});

Deno.test("a pause after a failure goes on when another instance takes over, and no clock makes it longer", async () => {
  await using world = await World.open();
  const first = world.start({ pauseMs: () => 3_600_000 });
  first.refused.add(1);
  await world.advance(1_000);
  await world.add(2);
  await world.advance(3_000);
  await first.store.close();
  await world.advance(1_800_000);
  const second = world.start();
  await world.advance(1_700_000);
  assertEquals(second.got, []);
  await world.advance(200_000);
  assertEquals(second.got, [1, 2]);
});

Deno.test("placeConsumer() of a store moves a consumer of another instance, and ends its failures", async () => {
  await using world = await World.open();
  const first = world.start({ pauseMs: () => Infinity });
  const second = world.start();
  first.refused.add(4);
  await world.advance(1_000);
  await world.add(4);
  await world.advance(3_000);
  assertEquals(first.consumer.state.failing?.attempts, 1);
  first.refused.clear();
  await world.runtime.settle(second.store.placeConsumer("mailer", 2));
  await world.advance(4_000);
  assertEquals([first.got, second.got], [[1, 2, 3, 3, 4], []]);
  assertEquals(first.consumer.state.failing, undefined);
  await assertRejects(
    () => world.runtime.settle(second.store.placeConsumer("mailer", 9)),
    RangeError,
  );
});

Deno.test("a consumer that is added begins at the place that another instance has just named", async () => {
  await using world = await World.open();
  const first = world.start();
  const second = world.start();
  await world.add(6);
  await world.advance(4_500);
  await world.runtime.settle(second.store.placeConsumer("mailer/late", 5));
  const got: number[] = [];
  first.store.consume("mailer/late", ({ position }) => void got.push(position));
  await world.advance(3_000);
  assertEquals(got, [6]);
});

Deno.test("retryConsumer() of a store ends the pause of a consumer of another instance, and moves no place", async () => {
  await using world = await World.open();
  const first = world.start({ pauseMs: () => Infinity });
  const second = world.start();
  first.refused.add(4);
  await world.advance(1_000);
  await world.add(5);
  await world.advance(3_000);
  assertEquals(first.got, [1, 2, 3]);
  first.refused.clear();
  await world.runtime.settle(second.store.retryConsumer("mailer"));
  await world.runtime.settle(second.store.retryConsumer("mailer/unknown"));
  await world.advance(4_000);
  assertEquals([first.got, second.got], [[1, 2, 3, 4, 5], []]);
  assertEquals(first.consumer.state.failing, undefined);
});

Deno.test("forgetConsumer() removes a place that no instance has, and stopConsumers() stores the places first", async () => {
  await using world = await World.open();
  const instance = world.start();
  const other = instance.store.consume("mailer/other", () => {});
  await world.advance(1_000);
  await world.add(2);
  await world.advance(2_000);
  await world.runtime.settle(other.stop());
  await world.advance(2_000);
  await world.runtime.settle(instance.store.forgetConsumer("mailer/other"));
  await world.add(1);
  await world.advance(300);
  await world.runtime.settle(instance.store.stopConsumers());
  assertEquals(await placesIn(world), [["mailer", 3]]);
  assertEquals((await readConsumers(tool(world)))[0].hasHolder, false);
});

Deno.test("a replay sends nothing again, and an audit finds the record of consumers sound", async () => {
  await using world = await World.open();
  const instance = world.start();
  await world.advance(1_000);
  await world.add(3);
  await world.advance(3_000);
  await world.runtime.settle(replay(tool(world), { graceMs: 0 }));
  await world.advance(3_000);
  assertEquals(instance.got, [1, 2, 3]);
  assertEquals((await world.runtime.settle(audit(tool(world)))).faults, []);
});

Deno.test("after damage of its record, a consumer is stopped, and does not begin anew", async () => {
  await using world = await World.open();
  const first = world.start();
  await world.advance(1_000);
  await world.add(3);
  await world.advance(3_000);
  await world.runtime.settle(first.store.close());
  await put(world.memory, consumersKey("mailer"), "damaged");
  const second = world.start();
  await world.advance(TAKE_OVER_MS);
  assertEquals([second.got, second.consumer.state.state], [[], "stopped"]);
});

Deno.test("a consumer that was forgotten has no place; one that was stopped has it", async () => {
  await using world = await World.open();
  const instance = world.start();
  const stopped = instance.store.consume("mailer/stopped", () => {});
  const forgotten = instance.store.consume("mailer/forgotten", () => {});
  await world.advance(1_000);
  await world.add(1);
  await world.advance(2_000);
  await world.runtime.settle(stopped.stop());
  await world.runtime.settle(forgotten.forget());
  await world.add(1);
  await world.advance(2_000);
  assertEquals(await placesIn(world), [
    ["mailer", 2],
    ["mailer/stopped", 1],
  ]);
});

Deno.test("each event comes at least once and in order, and only those again that no place has, whatever becomes of the instances", async () => {
  for (let seed = 1; seed <= 8; seed++) {
    const random = new Random(seed);
    await using world = await World.open();
    const { runtime, memory } = world;
    /** The positions that handlers have accepted, on all instances, in order. */
    const accepted: number[] = [];
    /** The last place that was stored when a handler accepted a position. */
    const storedThen: number[] = [];
    let stored = 0;
    const commit = memory.commit.bind(memory);
    memory.commit = async (it) => {
      const versionstamp = await commit(it);
      const entry = await memory.get(consumersKey("mailer"));
      stored = decodeConsumerRecord(entry)?.places.mailer?.position ?? 0;
      return versionstamp;
    };
    let chanceOfFailure = 0.2;
    /** Calls that are under way on all instances, and the positions of those that were not alone. */
    let calls = 0;
    const overlaps: number[] = [];
    const handle: ConsumerHandler<NoteBody> = async ({ position }, { signal }) => {
      calls++;
      if (calls > 1) overlaps.push(position);
      const { promise: isAborted, resolve } = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => resolve());
      try {
        await Promise.race([isAborted, sleep(runtime, random.integer(0, 1_500))]);
        if (signal.aborted || random.chance(chanceOfFailure)) throw new Error("away");
        accepted.push(position);
        storedThen.push(stored);
      } finally {
        calls--;
      }
    };
    const consume = (instance: Instance) => {
      const pauseMs = () => random.integer(10, 2_000);
      instance.consumer = instance.store.consume("mailer", handle, { pauseMs });
    };
    const start = () => {
      const instance = new Instance(memory, runtime);
      world.instances.push(instance);
      instance.faults.onCommit = (apply) => random.chance(0.1) ? loseAnswer(apply) : apply();
      consume(instance);
      return instance;
    };
    const disturb = async (instance: Instance) => {
      if (random.chance(0.5)) {
        await runtime.settle(instance.consumer.stop());
        consume(instance);
        return;
      }
      const { onCommit, onGet, onList, onSnapshot } = instance.faults;
      instance.cutOff();
      await world.advance(random.integer(500, 20_000));
      Object.assign(instance.faults, { onCommit, onGet, onList, onSnapshot });
    };
    let alive = [start(), start()];
    await world.advance(1_500);
    let added = 0;
    for (let step = 0; step < 25; step++) {
      const count = random.integer(0, 4);
      await world.add(count);
      added += count;
      const [victim] = random.chance(0.3) ? [random.pick(alive)] : [];
      if (victim !== undefined) {
        if (random.chance(0.5)) victim.cutOff();
        else void victim.store.close();
        alive = alive.filter((it) => it !== victim);
      }
      if (alive.length < 2) alive.push(start());
      if (random.chance(0.3)) await disturb(random.pick(alive));
      await world.advance(random.pick([50, 400, 3_000, 12_000]));
    }
    chanceOfFailure = 0;
    await world.advance(180_000);
    assertEquals(overlaps, [], `seed ${seed}`);
    const inOrder = Array.from({ length: added }, (_, index) => index + 1);
    const first = accepted.filter((it, index) => accepted.indexOf(it) === index);
    assertEquals(first, inOrder, `seed ${seed}`);
    for (const [index, position] of accepted.entries()) {
      assert(position > storedThen[index], `seed ${seed}: ${position} again after it was stored`);
      const before = Math.max(0, ...accepted.slice(0, index));
      assert(position <= before + 1, `seed ${seed}: ${position} after ${before}`);
    }
  }
});

Deno.test("consume() refuses a name that it cannot have or that is taken, and a position or a type that cannot be", async () => {
  await using world = await World.open();
  const { store } = world.start();
  for (const name of ["", "a b", "__proto__", "a/b/c", "/a", "x".repeat(101), "mailer"]) {
    assertThrows(() => store.consume(name, () => {}), RangeError, name.slice(0, 20));
  }
  assertThrows(() => store.consume("b", () => {}, { after: -1 }), RangeError, "after");
  assertThrows(
    () => store.consume("b", () => {}, { types: ["Gone" as never] }),
    RangeError,
    "Gone",
  );
});

Deno.test("an instance that closes lets another one work after its last call has ended, not before", async () => {
  await using world = await World.open();
  const { runtime } = world;
  const calls: string[] = [];
  const start = (name: string) => {
    const instance = new Instance(world.memory, runtime);
    world.instances.push(instance);
    instance.store.consume("mailer", async ({ position }) => {
      calls.push(`${name} begins ${position}`);
      await sleep(runtime, 1_900);
      calls.push(`${name} ends ${position}`);
    });
    return instance;
  };
  const first = start("first");
  await world.advance(1_000);
  start("second");
  // A place that has just changed lets the group write soon.
  first.store.consume("mailer/2", () => {});
  await world.add(1);
  await world.advance(100);
  await runtime.settle(first.store.close());
  await world.add(1);
  await world.advance(5_000);
  assertEquals(calls, ["first begins 1", "first ends 1", "second begins 2", "second ends 2"]);
});

Deno.test("a holder whose calls of the store hang ends its handlers before another instance can work", async () => {
  await using world = await World.open();
  const { runtime } = world;
  const first = new Instance(world.memory, runtime);
  world.instances.push(first);
  let abortedAt = Infinity;
  first.store.consume("mailer", async (_event, { signal }) => {
    signal.addEventListener("abort", () => abortedAt = runtime.monotonicNow());
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  });
  await world.advance(1_000);
  await world.add(1);
  await world.advance(2_900);
  const slowly = async <T>(apply: () => Promise<T>) => {
    await sleep(runtime, 1_950);
    return await apply();
  };
  const cutAt = runtime.monotonicNow();
  Object.assign(first.faults, { onGet: slowly, onList: slowly, onSnapshot: slowly });
  first.faults.onCommit = () => slowly(() => Promise.reject(new NotAppliedError("locked")));
  await world.advance(2 * TAKE_OVER_MS);
  assert(abortedAt - cutAt <= 6_000, `aborted ${abortedAt - cutAt} ms after the store was away`);
});

Deno.test("a consumer works again soon after the store was away for 5, 9 and 20 seconds, and gets each event", async () => {
  for (const awayMs of [5_000, 9_000, 20_000]) {
    await using world = await World.open();
    const instance = world.start();
    await world.advance(1_000);
    await world.add(1);
    await world.advance(2_000);
    const passOn = <T>(apply: () => Promise<T>) => apply();
    instance.cutOff();
    await world.add(1);
    await world.advance(awayMs);
    Object.assign(instance.faults, {
      onGet: passOn,
      onList: passOn,
      onSnapshot: passOn,
      onCommit: passOn,
    });
    await world.advance(5_000);
    assertEquals(instance.got, [1, 2], `${awayMs} ms`);
    assertEquals(instance.consumer.state.state, "working", `${awayMs} ms`);
  }
});

Deno.test("a consumer begins although the log could not be read at first", async () => {
  await using world = await World.open();
  const first = world.start();
  await world.advance(1_000);
  await world.add(2);
  await world.advance(3_000);
  await world.runtime.settle(first.store.close());
  const second = new Instance(world.memory, world.runtime);
  world.instances.push(second);
  let failures = 2;
  second.faults.onList = (apply) => {
    if (failures-- > 0) return Promise.reject(new StoreAwayError("away"));
    return apply();
  };
  second.consume();
  await world.advance(2_000);
  assertEquals(second.consumer.state.reason, undefined);
  await world.add(1);
  await world.advance(10_000);
  assertEquals(second.got, [3]);
});

Deno.test("a consumer that ends is not begun again by an operator who names its place", async () => {
  await using world = await World.open();
  const { runtime } = world;
  const instance = world.start();
  const calls: number[] = [];
  const slow = instance.store.consume("mailer/slow", async ({ position }) => {
    calls.push(position);
    await sleep(runtime, 5_000);
  });
  await world.advance(1_000);
  await world.add(3);
  await world.advance(100);
  const stopped = slow.stop();
  await runtime.settle(placeConsumer(tool(world), "mailer/slow", 0));
  await world.advance(2_000);
  await runtime.settle(stopped);
  const known = calls.length;
  await world.advance(20_000);
  assertEquals(calls.length, known);
  const reports = await readConsumers(tool(world));
  assertEquals(reports.find(({ name }) => name === "mailer/slow")?.position, 0);
});

Deno.test("a place that an operator has named stays in the record", async () => {
  await using world = await World.open();
  const { memory } = world;
  world.start();
  await world.advance(1_000);
  await world.add(4);
  await world.advance(3_000);
  const named: unknown[] = [];
  const commit = memory.commit.bind(memory);
  memory.commit = async (it) => {
    const versionstamp = await commit(it);
    const entry = await memory.get(consumersKey("mailer"));
    named.push(decodeConsumerRecord(entry)?.places.mailer?.named !== undefined);
    return versionstamp;
  };
  await world.runtime.settle(placeConsumer(tool(world), "mailer", 2));
  await world.advance(5_000);
  assertEquals(named.slice(named.indexOf(true)).includes(false), false, String(named));
});

Deno.test("stop() keeps the last place, and forget() removes it, also while a write is under way", async () => {
  await using world = await World.open();
  const instance = world.start();
  const stopped = instance.store.consume("mailer/stopped", () => {});
  const forgotten = instance.store.consume("mailer/forgotten", () => {});
  await world.advance(1_000);
  await world.add(1);
  await world.advance(2_000);
  const { fault, reached, release } = hold();
  let isReached = false;
  void reached.then(() => isReached = true);
  instance.faults.nextCommits.push(fault);
  while (!isReached) await world.advance(100);
  await world.add(1);
  await world.advance(300);
  await world.runtime.settle(Promise.all([stopped.stop(), forgotten.forget()]));
  release();
  await world.advance(4_000);
  assertEquals(await placesIn(world), [
    ["mailer", 2],
    ["mailer/stopped", 2],
  ]);
});

Deno.test("forget() removes the place also on an instance that does not work, and after stop()", async () => {
  await using world = await World.open();
  const first = world.start();
  const old = first.store.consume("mailer/old", () => {});
  await world.advance(1_000);
  await world.add(1);
  await world.advance(2_000);
  await world.runtime.settle(old.stop());
  await world.advance(2_000);
  const second = new Instance(world.memory, world.runtime);
  world.instances.push(second);
  const other = second.store.consume("mailer/old", () => {});
  await world.advance(1_000);
  await world.runtime.settle(other.stop());
  await world.runtime.settle(other.forget());
  await world.advance(4_000);
  const reports = await readConsumers(tool(world));
  assertEquals(reports.map(({ name }) => name), ["mailer"]);
});

Deno.test("a consumer may have the name of a property of every object", async () => {
  await using world = await World.open();
  const instance = world.start({}, "constructor");
  await world.advance(1_000);
  await world.add(1);
  await world.advance(3_000);
  assertEquals(instance.got, [1]);
  await world.runtime.settle(placeConsumer(tool(world), "toString", 1));
  const reports = await readConsumers(tool(world));
  assertEquals(reports.map(({ name }) => name), ["constructor", "toString"]);
});

Deno.test("the record of as many failing consumers as a group has fits into a value, and one more is stopped", async () => {
  await using world = await World.open();
  const instance = new Instance(world.memory, world.runtime);
  world.instances.push(instance);
  const nameOf = (index: number) => `${"g".repeat(90)}/${String(index).padStart(9, "0")}`;
  const consumers = Array.from(
    { length: 120 },
    (_, index) =>
      instance.store.consume(nameOf(index), () => {
        throw new Error("\u0001\ud800😀".repeat(200));
      }),
  );
  await world.advance(1_000);
  await world.add(1);
  await world.advance(5_000);
  const entry = await world.memory.get(consumersKey("g".repeat(90)));
  const { length } = entry!.value as Uint8Array;
  assert(length < VALUE_BYTES_LIMIT, `${length} bytes`);
  const reports = await readConsumers(tool(world));
  assertEquals(reports.filter(({ failing }) => failing !== undefined).length, 120);
  await world.runtime.settle(consumers[0].stop());
  const more = instance.store.consume(nameOf(120), () => {});
  await world.advance(3_000);
  assertEquals(more.state.state, "stopped");
  const work = world.runtime.settle(placeConsumer(tool(world), nameOf(121), 0));
  const refused = await assertRejects(() => work, ToolError, "120");
  assertEquals(refused.code, "group_full");
  assertEquals((await readConsumers(tool(world))).length, 120);
});

Deno.test("a store that refuses the record is not asked without a pause", async () => {
  await using world = await World.open();
  const instance = world.start();
  await world.advance(1_000);
  const before = instance.faults.commits.length;
  const refuse = () => Promise.reject(new StoreRefusedError("The commit is too large"));
  instance.faults.onCommit = (apply) =>
    instance.faults.commits.length > before + 200 ? apply() : refuse();
  await world.add(1);
  await world.advance(6_000);
  const count = instance.faults.commits.length - before;
  assert(count <= 12, `${count} commits in six seconds`);
});

Deno.test("a pause without end lasts until retry()", async () => {
  await using world = await World.open();
  const instance = world.start({ pauseMs: () => Infinity });
  instance.refused.add(1);
  await world.advance(1_000);
  await world.add(1);
  await world.advance(1_000);
  const longest = Math.max(...world.runtime.waits());
  assert(longest < 2 ** 31, `a timer of ${longest} ms, which the system ends at once`);
  assertEquals(instance.consumer.state.failing?.attempts, 1);
  instance.refused.clear();
  instance.consumer.retry();
  await world.advance(100);
  assertEquals(instance.got, [1]);
});

Deno.test("a handler may throw any value", async () => {
  await using world = await World.open();
  const { store } = world.start();
  const thrown = [undefined, null, Symbol("x"), Object.create(null)];
  let calls = 0;
  const consumer = store.consume("other", () => {
    if (calls < thrown.length) throw thrown[calls++];
  }, { pauseMs: () => 10 });
  await world.advance(1_000);
  await world.add(1);
  await world.advance(1_000);
  assertEquals([calls, consumer.state.position], [4, 1]);
});

Deno.test("consume() rejects a consumer after close(), and no timer is left", async () => {
  await using world = await World.open();
  const { store } = world.start();
  await world.advance(1_000);
  await world.runtime.settle(store.close());
  assertThrows(() => store.consume("late", () => {}), ServiceError, "closed");
  assertThrows(() => store.consume("mailer/late", () => {}), ServiceError, "closed");
  await world.advance(1_000);
  assertEquals(world.runtime.waits(), []);
});

Deno.test("a consumer that is added after it was forgotten begins like a new one, and after it was stopped at its place", async () => {
  await using world = await World.open();
  const instance = world.start();
  const got: number[] = [];
  const note = ({ position }: { position: number }) => void got.push(position);
  const other = instance.store.consume("mailer/other", note);
  await world.advance(1_000);
  await world.add(2);
  await world.advance(2_000);
  await world.runtime.settle(other.stop());
  const stopped = instance.store.consume("mailer/other", note);
  await world.advance(200);
  assertEquals(got, [1, 2]);
  await world.runtime.settle(stopped.forget());
  instance.store.consume("mailer/other", note);
  await world.advance(2_000);
  assertEquals(got, [1, 2, 1, 2]);
});

Deno.test("of two operators who name a place at once, each knows whether it is the one that stays", async () => {
  await using world = await World.open();
  await world.add(3);
  const { fault, reached, release } = hold();
  const store = faultyStore(world.memory);
  store.nextCommits.push(fault);
  const first = placeConsumer({ ...tool(world), store }, "mailer", 1);
  await reached;
  await world.runtime.settle(placeConsumer(tool(world), "mailer", 2));
  release();
  await world.runtime.settle(first);
  assertEquals((await readConsumers(tool(world)))[0].position, 1);
});

Deno.test("consumers that are far apart get all events of a long log, each once and in order", async () => {
  await using world = await World.open();
  const { runtime } = world;
  const instance = world.start();
  await world.advance(1_000);
  const { store } = new Instance(world.memory, runtime);
  const add = (first: number, count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `long-${first + index}`);
    const decide = () => ids.map((id) => ({ type: "NoteAdded" as const, data: { id } }));
    return runtime.settle(store.append({ decide }));
  };
  const slow: number[] = [];
  instance.store.consume("mailer/slow", async ({ position }) => {
    slow.push(position);
    if (position % 100 === 0) await sleep(runtime, 200);
  });
  for (let count = 0; count < 3_000; count += 50) {
    await add(count, 50);
    if (count % 500 === 0) await world.advance(300);
  }
  const late: number[] = [];
  instance.store.consume("mailer/late", ({ position }) => void late.push(position), { after: 700 });
  await world.advance(20_000);
  await runtime.settle(store.close());
  const inOrder = Array.from({ length: 3_000 }, (_, index) => index + 1);
  assertEquals(instance.got, inOrder);
  assertEquals(slow, inOrder);
  assertEquals(late, inOrder.slice(700));
});

Deno.test("a handler that never ends holds up neither others, nor the takeover, nor close()", async () => {
  await using world = await World.open();
  const { runtime } = world;
  const first = world.start();
  first.store.consume("mailer/hung", () => new Promise<void>(() => {}));
  await world.advance(1_000);
  await world.add(1);
  const second = world.start();
  let calls = 0;
  second.store.consume("mailer/hung", () => void calls++);
  await world.advance(3_000);
  await runtime.settle(placeConsumer(tool(world), "mailer/hung", 0));
  await world.advance(3_000);
  await world.add(1);
  await world.advance(500);
  assertEquals(first.got, [1, 2]);
  const begun = runtime.monotonicNow();
  await runtime.settle(first.store.close());
  assert(runtime.monotonicNow() - begun <= 3_500, `${runtime.monotonicNow() - begun} ms`);
  await world.advance(2_000);
  assertEquals(calls, 2);
});

Deno.test("places of consumers that are gone count, so that the record of a group never outgrows its limit", async () => {
  await using world = await World.open();
  const before = world.start();
  await world.advance(1_000);
  await world.add(1);
  await world.runtime.settle(before.store.close());
  for (let index = 0; index < 59; index++) {
    await world.runtime.settle(placeConsumer(tool(world), `mailer/gone-${index}`, 0));
  }
  const instance = new Instance(world.memory, world.runtime);
  world.instances.push(instance);
  const consumers = Array.from(
    { length: 70 },
    (_, index) => instance.store.consume(`mailer/${index}`, () => {}),
  );
  await world.advance(5_000);
  assertEquals((await readConsumers(tool(world))).length, 120);
  const states = consumers.map(({ state }) => state.state);
  assertEquals(states.filter((state) => state === "working").length, 60);
  assertEquals(states.filter((state) => state === "stopped").length, 10);
});

Deno.test("each call of a handler has a signal of its own, so what handlers add to it does not pile up", async () => {
  await using world = await World.open();
  const { store } = world.start();
  const signals: AbortSignal[] = [];
  store.consume("mailer/2", (_event, { signal }) => void signals.push(signal));
  await world.advance(1_000);
  await world.add(3);
  await world.advance(1_000);
  assertEquals(new Set(signals).size, 3);
});

Deno.test("a store whose consumers have begun before its first event opens again, and is sound", async () => {
  await using world = await World.open();
  const instance = world.start();
  await world.advance(1_000);
  await world.runtime.settle(instance.store.close());
  const shared = sharedStore(world.memory);
  const { runtime } = world;
  const opened = await openEventStore(application, shared, { runtime });
  await world.runtime.settle(opened.close());
  assertEquals((await world.runtime.settle(audit(tool(world)))).faults, []);
  await put(world.memory, ["other"], "foreign");
  await assertRejects(() => openEventStore(application, shared, { runtime }), Error, "another");
  assert((await world.runtime.settle(audit(tool(world)))).faults.length > 0);
});
