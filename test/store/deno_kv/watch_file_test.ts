import { assert, assertEquals } from "@std/assert";
import type { StoreError } from "../../../src/store/store_errors.ts";
import { watchFile } from "../../../src/store/deno_kv/watch_file.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { permitted } from "../../support/permitted.ts";
import { testIf } from "../../support/test_if.ts";

const test = testIf(permitted("read", "write") && Deno.build.os !== "windows");

/** The ways to lose a file, with the reason that is reported. Each returns a function that brings it back. */
const LOSSES: Record<string, (path: string) => Promise<() => Promise<void>>> = {
  "was deleted or moved": async (path) => {
    await Deno.rename(path, `${path}.moved`);
    return () => Deno.rename(`${path}.moved`, path);
  },
  "was replaced": async (path) => {
    await Deno.rename(path, `${path}.moved`);
    await Deno.copyFile(`${path}.moved`, path);
    return () => Deno.rename(`${path}.moved`, path);
  },
};

for (const suffix of ["", "-wal"]) {
  for (const [reason, lose] of Object.entries(LOSSES)) {
    test(`watchFile() reports once that the store's file${suffix} ${reason}, and that it is back`, async () => {
      const folder = await Deno.makeTempDir();
      const path = `${folder}/pets.sqlite3`;
      for (const file of [path, `${path}-wal`]) await Deno.writeTextFile(file, "");
      const runtime = new FakeRuntime();
      const reports: [level: string, event: string, reason: unknown][] = [];
      const faults: (StoreError | undefined)[] = [];
      const stop = await watchFile(path, {
        runtime,
        report: (level, event, details) => reports.push([level, event, details?.reason]),
        onChange: (fault) => faults.push(fault),
      });
      const look = async () => {
        await runtime.advance(1_000);
        // The fake time does not wait for the file system.
        while (runtime.waits().length === 0) await runtime.advance(0);
      };
      await look();
      assertEquals(reports, []);

      const bringBack = await lose(path + suffix);
      for (let looks = 0; looks < 3; looks++) await look();
      const lost = ["error", "store_file_lost", `${path}${suffix} ${reason}`];
      assertEquals<unknown>(reports, [lost]);
      assert(faults[0]?.isLogged);

      await bringBack();
      await look();
      assertEquals<unknown>(reports, [lost, ["info", "store_file_found", undefined]]);
      assertEquals(faults.slice(1), [undefined]);

      stop();
      await lose(path + suffix);
      for (let looks = 0; looks < 3; looks++) await runtime.advance(1_000);
      assertEquals([reports.length, runtime.waits()], [2, []]);
      await Deno.remove(folder, { recursive: true });
    });
  }
}
