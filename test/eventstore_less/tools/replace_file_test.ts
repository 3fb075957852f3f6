import { assertEquals, assertRejects } from "@std/assert";
import { basename } from "node:path";
import { replaceFile } from "../../../src/eventstore_less/tools/replace_file.ts";
import { NOT_WINDOWS, permissions, testNeeding } from "../../support/test_needing.ts";

const NEEDS = [permissions("read", "write"), NOT_WINDOWS];
const IS_ROOT = {
  name: "root",
  isMet: Deno.permissions.querySync({ name: "sys" }).state === "granted" && Deno.uid() === 0,
};

const test = testNeeding(...NEEDS);

/** A folder with one file, after which only the file may be there. */
async function withFile(use: (path: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/file`;
  try {
    await Deno.writeTextFile(path, "old", { mode: 0o640 });
    await use(path);
    const drafts = Array.from(Deno.readDirSync(folder), ({ name }) => name)
      .filter((name) => name.endsWith(".tmp"));
    assertEquals(drafts, []);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

test("replaceFile() makes a file, and replaces one, whose mode it keeps", () =>
  withFile(async (path) => {
    for (const mode of [0o640, 0o604, 0o666]) {
      await Deno.chmod(path, mode);
      await replaceFile(path, "new");
      assertEquals(await Deno.readTextFile(path), "new");
      assertEquals(Deno.statSync(path).mode! & 0o7777, mode);
    }
    await Deno.remove(path);
    await replaceFile(path, "made");
    assertEquals(await Deno.readTextFile(path), "made");
  }));

test("replaceFile() refuses what it would break: links, hard links and what is no file", () =>
  withFile(async (path) => {
    const refuses = async (name: string, reason: string) => {
      const { message } = await assertRejects(() => replaceFile(name, "new"), Error, reason);
      assertEquals(message.includes("\n"), false);
      assertEquals(message.includes(basename(name)), true);
      assertEquals(await Deno.readTextFile(path), "old");
    };
    await Deno.symlink(path, `${path}.link`);
    await Deno.mkdir(`${path}.folder`);
    for (const name of ["link", "folder"]) {
      await refuses(`${path}.${name}`, "is not a regular file, and is not replaced");
    }
    await Deno.link(path, `${path}.hard`);
    await refuses(path, "has 2 names (hard links), of which the others would keep the old content");
  }));

testNeeding(...NEEDS, IS_ROOT)(
  "replaceFile() keeps the owner and the group of a file",
  () =>
    withFile(async (path) => {
      await Deno.chown(path, 1234, 2345);
      await Deno.chmod(path, 0o4640);
      await replaceFile(path, "new");
      const { uid, gid, mode } = Deno.statSync(path);
      assertEquals([uid, gid, mode! & 0o7777], [1234, 2345, 0o4640]);
    }),
);
