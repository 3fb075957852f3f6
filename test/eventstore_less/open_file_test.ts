/** An event store on a file stores nothing that would vanish with the process. */

import { assertEquals, assertRejects } from "@std/assert";
import { openEventStore, type StoreOf } from "eventstore-less";
import { FakeRuntime } from "eventstore-less/testing";
import { application } from "./tools/bookings.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { TempStore } from "../support/temp_store.ts";

const test = testNeeding(permissions("read", "write"));

const book = (store: StoreOf<typeof application>, id: string) =>
  store.append({
    decide: () => [{ type: "BookingMade", data: { id, day: "2026-12-01", guest: "Ann" } }],
  });

test("openEventStore() opens the file to which a symbolic link leads", async () => {
  await using temp = await TempStore.make();
  const link = `${temp.folder}/link.sqlite3`;
  await Deno.mkdir(`${temp.folder}/volume`);
  const path = `${temp.folder}/volume/store.sqlite3`;
  await using first = await openEventStore(application, path);
  await book(first, "1");
  await first.close();
  await Deno.symlink(path, link);
  await using store = await openEventStore(application, link);
  await book(store, "2");
  const names = Array.from(Deno.readDirSync(temp.folder), ({ name }) => name).sort();
  assertEquals(names.filter((name) => name.startsWith("link")), ["link.sqlite3"]);
  assertEquals((await Deno.stat(`${path}-wal`)).isFile, true);
});

for (const lost of ["", "-wal"]) {
  test(`append() rejects after the file of the store${lost && " for its log"} was removed`, async () => {
    await using temp = await TempStore.make();
    const path = `${temp.folder}/store.sqlite3`;
    const runtime = new FakeRuntime();
    await using store = await openEventStore(application, path, { runtime });
    await book(store, "1");
    await Deno.remove(path + lost);
    await runtime.advance(1_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await assertRejects(() => book(store, "2"), Error, "nothing was stored");
  });
}
