import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { checkFile } from "../../../../src/eventstore_less/store/sqlite/check_file.ts";
import { StoreDamagedError } from "../../../../src/eventstore_less/store/store_errors.ts";
import { issueApiKey } from "../../../../src/keys/write_api_key.ts";
import { sampleLog } from "../../../support/sample_log.ts";
import { writeLog } from "../../../support/sample_store.ts";
import { swapCells } from "../../../support/swap_cells.ts";
import { TempStore } from "../../../support/temp_store.ts";
import { permissions, testNeeding } from "../../../support/test_needing.ts";

const test = testNeeding(permissions("read", "write"));

test("checkFile() accepts a file that is written meanwhile, and finds keys in a wrong order", async () => {
  await using temp = await TempStore.make();
  const { kvPath } = temp;
  await temp.use(async (service) => {
    await writeLog(service.store, service.runtime, sampleLog(40, Date.now()));
    const checking = checkFile(kvPath);
    await issueApiKey(service, { label: "meanwhile" });
    assertEquals(await checking, undefined);
  });
  swapCells(kvPath);
  const damage = await checkFile(kvPath);
  assert(damage instanceof StoreDamagedError);
  assertMatch(damage.reason, /^row (\d+ missing from index|not in PRIMARY KEY order)/);
});

test("checkFile() rejects if there is no file", async () => {
  await using temp = await TempStore.make();
  await assertRejects(() => checkFile(temp.kvPath), Error, "unable to open database file");
});
