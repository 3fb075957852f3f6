import type { Runtime } from "eventstore-less";
import { APPLICATION } from "../../src/application.ts";
import type { Head } from "../../src/eventstore_less/definitions.ts";
import { decodeEvent } from "../../src/eventstore_less/log/event.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { createService } from "../../src/service.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { liveApiKeyOf, sampleLog } from "./sample_log.ts";

/** Numbers of lines in the records of a store, repeated: the service shares commits as it happens. */
const GROUP_SIZES: readonly number[] = [1, 4, 2, 7];

/** Opens a new store in memory with the sample log of that length, as after commits of these sizes. */
export async function openSampleStore(length: number, groupSizes = GROUP_SIZES) {
  const runtime = new FakeRuntime();
  const store = runtime.awaited(await SqliteStore.open(":memory:"));
  const lines = sampleLog(length, runtime.now());
  // The sample has used the first ids of the runtime, so skip them.
  for (let used = 0; used < length; used++) runtime.newId();
  const head = await writeLog(store, runtime, lines, groupSizes);
  const keyId = liveApiKeyOf(lines);
  return { store, runtime, lines, head, keyId, [Symbol.dispose]: () => store.close() };
}

/** Appends the lines as the service would, in commits of these sizes. */
export async function writeLog(
  store: Store,
  runtime: Runtime,
  lines: string[],
  groupSizes = GROUP_SIZES,
): Promise<Head> {
  const { appender } = createService({ store, runtime, report: () => {} });
  for (let first = 0, group = 0; first < lines.length; group++) {
    const end = first + groupSizes[group % groupSizes.length];
    const events = lines.slice(first, end).map((line) => decodeEvent(APPLICATION, line));
    await appender.append({ prepare() {}, decide: () => events });
    first = end;
  }
  await appender.drain();
  return (await readHead(APPLICATION, store)).head;
}
