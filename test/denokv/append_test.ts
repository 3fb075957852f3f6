import { assertEquals, assertGreater } from "@std/assert";
import { OPERATOR } from "../../events/event.ts";
import { QUEUE_LIMIT } from "../../src/append/appender.ts";
import { createService } from "../../src/service.ts";
import { linesOf } from "../../src/log/read_log.ts";
import { scan } from "../../src/store/scan.ts";
import type { Store } from "../../src/store/store.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { DENOKV, DenokvServer } from "../support/denokv_server.ts";
import { examplePet } from "../support/fill_store.ts";
import { openRealStore } from "../support/real_store.ts";
import { assertSoundLog, readLogLines } from "../support/sound_log.ts";
import { testIf } from "../support/test_if.ts";

const test = testIf(!DENOKV.ignore);

test("a full queue of 2,048 pets goes to denokv in few commits, of more than 900 events each", async () => {
  await using server = await DenokvServer.start();
  const store = await openRealStore(server.address, server.env);
  const { appender } = createService({ store, runtime: systemRuntime, report: () => {} });
  await Promise.all(Array.from({ length: QUEUE_LIMIT }, (_, index) => {
    return appender.append(addPetCommand(systemRuntime, OPERATOR, examplePet(index)));
  }));
  await appender.drain();
  const events = await eventsByCommit(store);
  for (const count of events.slice(0, -1)) assertGreater(count, 900);
  assertEquals(events.reduce((sum, count) => sum + count), QUEUE_LIMIT);
  assertEquals(assertSoundLog(await readLogLines(store)).length, QUEUE_LIMIT);
  store.close();
});

/** The number of events in each commit. The records of a commit share a versionstamp. */
async function eventsByCommit(store: Store): Promise<number[]> {
  const events = new Map<string, number>();
  for await (const batch of scan(store, { prefix: ["~log"] })) {
    for (const { key, value, versionstamp } of batch) {
      const lines = linesOf(key[1] as number, value)!;
      events.set(versionstamp, (events.get(versionstamp) ?? 0) + lines.length);
    }
  }
  return [...events.values()];
}
