import { assertEquals, assertRejects } from "@std/assert";
import { ComparingThread } from "../../../scripts/cli/comparing_thread.ts";
import { packRecords } from "../../../src/maintenance/packed_records.ts";
import { petKey, projectionKey } from "../../../src/keyspace.ts";
import { permitted } from "../../support/permitted.ts";
import { changeFile, withSampleFile } from "../../support/sample_file.ts";

const ignore = !permitted("read", "write", "env");

/** Expects that the store holds pet 1 with that value. */
function firstPet(value: Uint8Array) {
  const [start, end] = [1, 2].map((id) => projectionKey(1, petKey(id)));
  return [packRecords({ start, end }, [{ key: petKey(1), value }])];
}

/** Sets KV_PATH while a thread starts. */
async function withKvPath(path: string, use: () => Promise<void>): Promise<void> {
  const before = Deno.env.get("KV_PATH");
  Deno.env.set("KV_PATH", path);
  try {
    await use();
  } finally {
    if (before === undefined) Deno.env.delete("KV_PATH");
    else Deno.env.set("KV_PATH", before);
  }
}

Deno.test({
  name: "ComparingThread compares records with the current content of the configured store",
  ignore,
  fn: () =>
    withSampleFile(({ kvPath }) =>
      withKvPath(kvPath, async () => {
        using thread = new ComparingThread();
        const value = new TextEncoder().encode("what a pet would be");
        const [before] = await Promise.all([
          thread.matchesStore(firstPet(value)),
          thread.matchesStore(firstPet(value)),
        ]);
        await changeFile(kvPath, [{ type: "set", key: projectionKey(1, petKey(1)), value }]);
        assertEquals([before, await thread.matchesStore(firstPet(value))], [false, true]);
      })
    ),
});

Deno.test({
  name: "ComparingThread rejects with the reason if it cannot compare",
  ignore,
  fn: () =>
    withKvPath("no/such/pets.sqlite3", async () => {
      using thread = new ComparingThread();
      for (let time = 0; time < 2; time++) {
        const asking = () => thread.matchesStore(firstPet(new Uint8Array(1)));
        await assertRejects(asking, Error, "there is no such file");
      }
    }),
});
