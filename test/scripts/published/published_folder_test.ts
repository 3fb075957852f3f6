import { assertThrows } from "@std/assert";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { WritableFolder } from "../../../scripts/published/published_folder.ts";
import { TempStore } from "../../support/temp_store.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(permissions("read", "write", "run"));

test("WritableFolder is for one process at a time", async () => {
  await using temp = await TempStore.make();
  {
    using _first = new WritableFolder(temp.folder);
    assertThrows(() => new WritableFolder(temp.folder), Error, "Another process publishes in");
  }
  using _next = new WritableFolder(temp.folder);
});

test("WritableFolder can be opened again at once, also while processes start", async () => {
  await using temp = await TempStore.make();
  const url = new URL("process_starter.ts", import.meta.url);
  const starters = [1, 2].map(() => new Worker(url, { type: "module" }));
  try {
    const started = starters.map((it) => once(it, "message"));
    await Promise.all(started);
    for (let round = 0; round < 1_000; round++) {
      using _folder = new WritableFolder(temp.folder);
      if (round % 5 === 0) await setTimeout(0);
    }
  } finally {
    for (const starter of starters) starter.terminate();
  }
});
