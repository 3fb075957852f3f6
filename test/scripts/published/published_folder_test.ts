import { assertThrows } from "@std/assert";
import { WritableFolder } from "../../../src/eventstore_less/tools/published/published_folder.ts";
import { TempStore } from "../../support/temp_store.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(permissions("read", "write"));

test("WritableFolder is for one process at a time", async () => {
  await using temp = await TempStore.make();
  {
    using _first = new WritableFolder(temp.folder);
    assertThrows(() => new WritableFolder(temp.folder), Error, "Another process publishes in");
  }
  using _next = new WritableFolder(temp.folder);
});
