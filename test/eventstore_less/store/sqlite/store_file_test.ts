import { assert, assertEquals } from "@std/assert";
import type { StoreError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { watchFile } from "../../../../src/eventstore_less/store/sqlite/store_file.ts";
import { FakeRuntime } from "../../../support/fake_runtime.ts";
import { NOT_WINDOWS, permissions, testNeeding } from "../../../support/test_needing.ts";
import { TempStore } from "../../../support/temp_store.ts";

const test = testNeeding(permissions("read", "write"), NOT_WINDOWS);

for (const suffix of ["", "-wal"]) {
  for (const reason of ["was deleted or moved", "was replaced"]) {
    test(`watchFile() reports once that the store's file${suffix} ${reason}, and that it is back`, async () => {
      await using temp = await TempStore.make();
      const path = temp.kvPath;
      for (const file of [path, `${path}-wal`]) await Deno.writeTextFile(file, "");
      const runtime = new FakeRuntime();
      const reports: [level: string, event: string, reason: unknown][] = [];
      const faults: (StoreError | undefined)[] = [];
      const stop = await watchFile(
        path,
        runtime,
        (level, event, details) => reports.push([level, event, details?.reason]),
        (fault) => faults.push(fault),
      );
      const look = async () => {
        await runtime.advance(1_000);
        // The fake time does not wait for the file system.
        while (runtime.waits().length === 0) await runtime.advance(0);
      };
      await look();
      assertEquals(reports, []);

      const [file, moved] = [path + suffix, `${path}.moved`];
      const lose = async () => {
        await Deno.rename(file, moved);
        if (reason === "was replaced") await Deno.copyFile(moved, file);
      };
      await lose();
      for (let looks = 0; looks < 3; looks++) await look();
      const lost = ["error", "store_file_lost", `${path}${suffix} ${reason}`];
      assertEquals<unknown>(reports, [lost]);
      assert(faults[0]?.isLogged);

      await Deno.rename(moved, file);
      await look();
      assertEquals<unknown>(reports, [lost, ["info", "store_file_found", undefined]]);
      assertEquals(faults.slice(1), [undefined]);

      stop();
      await lose();
      for (let looks = 0; looks < 3; looks++) await runtime.advance(1_000);
      assertEquals([reports.length, runtime.waits()], [2, []]);
    });
  }
}
