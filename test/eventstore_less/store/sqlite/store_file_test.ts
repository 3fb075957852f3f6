import { assert, assertEquals, assertMatch } from "@std/assert";
import type { StoreError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { watchFile } from "../../../../src/eventstore_less/store/sqlite/store_file.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { NOT_WINDOWS, permissions, testNeeding } from "../../../support/test_needing.ts";
import { TempStore } from "../../../support/temp_store.ts";

const test = testNeeding(permissions("read", "write"), NOT_WINDOWS);

for (const suffix of ["", "-wal"]) {
  for (const reason of ["was deleted or moved", "was replaced"]) {
    test(`watchFile() reports once that the store's file${suffix} ${reason}, and that it is back`, async () => {
      await using temp = await TempStore.make();
      const path = temp.kvPath;
      for (const file of [path, `${path}-wal`]) await Deno.writeTextFile(file, "");
      const watch = await watchIn(temp, {});
      const { faults, look } = watch;
      const reports = () => watch.reports.map(({ event, details }) => [event, details.reason]);
      await look();
      assertEquals(reports(), []);

      const [file, moved] = [path + suffix, `${path}.moved`];
      const lose = async () => {
        await Deno.rename(file, moved);
        if (reason === "was replaced") await Deno.copyFile(moved, file);
      };
      await lose();
      for (let looks = 0; looks < 3; looks++) await look();
      const lost = ["store_file_lost", `${path}${suffix} ${reason}`];
      assertEquals<unknown>(reports(), [lost]);
      assert(faults[0]?.isLogged);

      await Deno.rename(moved, file);
      await look();
      assertEquals<unknown>(reports(), [lost, ["store_file_found", undefined]]);
      assertEquals(faults.slice(1), [undefined]);

      watch.stop();
      await lose();
      for (let looks = 0; looks < 3; looks++) await watch.runtime.advance(1_000);
      assertEquals([reports().length, watch.runtime.waits()], [2, []]);
    });
  }
}

test("watchFile() warns once that there is no log, and gives no command that would not copy it", async () => {
  await using temp = await TempStore.make();
  const path = temp.kvPath;
  await Deno.writeTextFile(path, "");
  await using watch = await watchIn(temp, {});
  assertEquals(watch.events(), ["store_log_missing"]);
  for (let looks = 0; looks < 3; looks++) await watch.look();
  assertEquals(watch.events(), ["store_log_missing"]);
  await Deno.rename(path, `${path}.moved`);
  await watch.look();
  assertEquals(watch.events(), ["store_log_missing", "store_file_lost"]);
  const [, { details }] = watch.reports;
  assertEquals(["reason", "remedy", "store"], Object.keys(details).sort());
  assertMatch(
    String(details.remedy),
    /^If the file was moved, .* copy its open files: ls -l \/proc\/\d+\/fd /,
  );
});

test("watchFile() reports a file that was lost before its first look, without a command that has a hole", async () => {
  await using temp = await TempStore.make();
  await Deno.writeTextFile(`${temp.kvPath}-wal`, "");
  await using watch = await watchIn(temp, {});
  await watch.look();
  assertEquals(watch.events(), ["store_file_lost"]);
  assert(!/undefined/.test(JSON.stringify(watch.reports)));
});

test("watchFile() says once where a link leads that has moved, and stops no writes", async () => {
  await using temp = await TempStore.make();
  const path = await Deno.realPath(temp.folder) + "/pets.sqlite3";
  for (const file of [path, `${path}-wal`]) await Deno.writeTextFile(file, "");
  const link = `${temp.folder}/link`;
  const moveTo = async (target: string) => {
    await Deno.symlink(target, `${link}.new`);
    await Deno.rename(`${link}.new`, link);
  };
  await moveTo(path);
  await using watch = await watchIn(temp, { path, link });
  await watch.look();
  assertEquals(watch.events(), []);
  for (const target of [`${path}-wal`, path, "missing"]) {
    await moveTo(target);
    for (let looks = 0; looks < 2; looks++) await watch.look();
  }
  const reasons = watch.reports.map(({ event, details }) => [event, details.reason]);
  const moved = "store_link_moved";
  assertEquals<unknown>(reasons, [
    [moved, `${link} now leads to ${path}-wal`],
    [moved, `${link} now leads to nothing`],
  ]);
  assertEquals(watch.faults, []);
});

/** Watches the file of a store, and looks at it on demand. */
async function watchIn(temp: TempStore, location: { path?: string; link?: string }) {
  const runtime = new FakeRuntime();
  const reports: { event: string; details: Record<string, unknown> }[] = [];
  const faults: (StoreError | undefined)[] = [];
  const stop = await watchFile(
    { path: temp.kvPath, ...location },
    runtime,
    (_level, event, details = {}) => reports.push({ event, details }),
    (fault) => faults.push(fault),
  );
  const look = async () => {
    await runtime.advance(1_000);
    // The fake time does not wait for the file system.
    while (runtime.waits().length === 0) await runtime.advance(0);
  };
  const dispose = async () => {
    stop();
    await runtime.advance(1_000);
  };
  const events = () => reports.map(({ event }) => event);
  return { runtime, reports, faults, events, look, stop, [Symbol.asyncDispose]: dispose };
}
