/** A batch of events that store blocks is planned without the records of those that do not fit. */

import type { RecordedEvent } from "eventstore-less/definitions.ts";
import { QUEUE_LIMIT } from "eventstore-less/append/appender.ts";
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { openTestService } from "../../support/test_service.ts";

/** About the size of a block of pets that each have another category. */
const BLOCK_BYTES = 32_000;

Deno.test("a full queue of events that each store a large block is planned without most of the blocks that do not fit", async () => {
  await using service = await openTestService();
  const { appender, faults, keyId, runtime } = service;
  let encoded = 0;
  const recordsAfter = (events: readonly RecordedEvent[]) => {
    encoded += events.length;
    return events.map(({ position }) => {
      return { key: ["block_of_pets", position], content: new Uint8Array(BLOCK_BYTES) };
    });
  };
  const columns = [{ forCommit: () => Promise.resolve({ recordsAfter }) }];
  Object.assign(appender.deps, { columns });
  const before = faults.commits.length;
  const commands = Array.from({ length: QUEUE_LIMIT }, () => {
    return addPetCommand(runtime, keyId, { name: "Rex", categoryId: 7n });
  });
  await runtime.settle(Promise.all(commands.map((it) => appender.append(it))));
  const commits = faults.commits.length - before;
  assertGreater(commits, QUEUE_LIMIT / 50);
  assertLess(encoded, 100 * commits);
  assertEquals((await service.listIds("limit=1"))[0], QUEUE_LIMIT);
});
