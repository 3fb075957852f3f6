import { assertEquals, assertThrows } from "@std/assert";
import {
  readPublished,
  WritableFolder,
} from "../../../src/eventstore_less/tools/published/published_folder.ts";
import { RefusedError } from "../../../src/eventstore_less/tools/refused_error.ts";
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

test("readPublished() reads only regular files of the folder, of limited size", async () => {
  await using temp = await TempStore.make();
  await using outside = await TempStore.make();
  const [folder, link] = [`${temp.folder}/published`, `${temp.folder}/link`];
  await Deno.mkdir(`${folder}/tile`, { recursive: true });
  await Deno.mkdir(`${outside.folder}/tile`);
  await Deno.writeTextFile(`${outside.folder}/tile/0`, "elsewhere");
  await Deno.writeTextFile(`${folder}/checkpoint`, "signed");
  await Deno.symlink(`${outside.folder}/tile`, `${folder}/tiles`);
  await Deno.symlink("/dev/zero", `${folder}/zero`);
  await Deno.writeTextFile(`${folder}/large`, "");
  await Deno.truncate(`${folder}/large`, 16_777_473);
  // The folder itself may be a link.
  await Deno.symlink(folder, link);
  const read = readPublished(link);
  assertEquals(new TextDecoder().decode(read("checkpoint")), "signed");
  assertEquals(read("missing"), undefined);
  const linked = "is a symbolic link, or behind one; a published folder has none";
  const irregular = "is not a regular file of at most 16776448 bytes";
  for (
    const [path, reason] of [["zero", linked], ["tiles/0", linked], ["large", irregular], [
      "tile",
      irregular,
    ]]
  ) {
    assertThrows(() => read(path), RefusedError, `${path} ${reason}`);
  }
});
