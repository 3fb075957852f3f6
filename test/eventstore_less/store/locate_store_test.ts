import { assertEquals, assertThrows } from "@std/assert";
import { locateStore } from "../../../src/eventstore_less/store/locate_store.ts";
import { OpenStoreError } from "../../../src/eventstore_less/store/open_store_error.ts";
import { NOT_WINDOWS, permissions, testNeeding } from "../../support/test_needing.ts";
import { TempStore } from "../../support/temp_store.ts";

const test = testNeeding(permissions("read", "write"), NOT_WINDOWS);

/** A store behind a link in another folder. */
async function withLink(use: (link: string, path: string) => Promise<void>): Promise<void> {
  await using volume = await TempStore.make();
  await using other = await TempStore.make();
  await Deno.writeTextFile(volume.kvPath, "");
  await Deno.symlink(volume.kvPath, other.kvPath);
  await use(other.kvPath, await Deno.realPath(volume.kvPath));
}

function locate(name: string) {
  return locateStore({ kind: "named_file", name, isDefault: false });
}

test("locateStore() gives the file to which a link leads, whose other files SQLite finds by its path", () =>
  withLink(async (link, path) => {
    assertEquals(locate(link), { kind: "file", path, isDefault: false, link });
    assertEquals(locate(path), { kind: "file", path, isDefault: false });
    await Deno.remove(path);
    assertEquals(locate(path), { kind: "file", path, isDefault: false });
    assertThrows(() => locate(link), OpenStoreError, `: ${link} is a symbolic link to `);
  }));

test("locateStore() refuses a store whose log may lie beside the link, where SQLite would not read it", () =>
  withLink(async (link, path) => {
    const log = `${link}-wal`;
    await Deno.writeTextFile(log, "");
    assertEquals(locate(link).kind, "file");
    await Deno.writeTextFile(log, "changes");
    const reason = `its log must lie beside the file ${path}, but ${log} may have changes of it`;
    assertThrows(() => locate(link), OpenStoreError, reason);
    // A link to the right log is harmless.
    await Deno.rename(log, `${path}-wal`);
    await Deno.symlink(`${path}-wal`, log);
    assertEquals(locate(link).kind, "file");
  }));
