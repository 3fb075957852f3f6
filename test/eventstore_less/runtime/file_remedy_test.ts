import { assert, assertEquals } from "@std/assert";
import { userInfo } from "node:os";
import { fileRemedy, writeRemedy } from "../../../src/eventstore_less/runtime/file_remedy.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(permissions("read", "sys", "write"));

function systemError(code: string, path?: string): Error {
  return Object.assign(new Error(`${code}: the system refuses`), { code, path });
}

async function withFolder(run: (folder: string, user: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder, userInfo().username);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

test("fileRemedy() names the folder that does not exist, and the line that makes it for the user", () =>
  withFolder(async (folder, user) => {
    const missing = `${folder}/Ann's disk`;
    const quoted = `'${folder}/Ann'\\''s disk'`;
    assertEquals(
      fileRemedy(systemError("ENOENT", `${missing}/log.jsonl`)),
      `the folder ${missing} does not exist: as root, make it for the user ${user}: install -d -o ${user} -m 700 ${quoted}`,
    );
    await Deno.mkdir(missing);
    assertEquals(fileRemedy(systemError("ENOENT", `${missing}/log.jsonl`)), undefined);
  }));

test("fileRemedy() lets the user own a file, or an empty folder, but never a folder with files of others", () =>
  withFolder(async (folder, user) => {
    const error = systemError("EACCES", `${folder}/log.jsonl`);
    const refused = `the user ${user} may not write in the folder ${folder}`;
    assertEquals(
      fileRemedy(error),
      `${refused}: as root, let that user own it: install -d -o ${user} -m 700 ${folder}`,
    );
    await Deno.writeTextFile(`${folder}/of_another`, "");
    assertEquals(
      fileRemedy(error),
      `${refused}: name ${folder}/${user}/log.jsonl in its place, and make the folder as root: install -d -o ${user} -m 700 ${folder}/${user}`,
    );
    await Deno.writeTextFile(`${folder}/log.jsonl`, "");
    assertEquals(
      fileRemedy(error),
      `the user ${user} may not use ${folder}/log.jsonl: as root, let that user own it: chown ${user} ${folder}/log.jsonl`,
    );
  }));

test("fileRemedy() names the disk that is full or read-only, also by the cause of an error and the file that was written", () =>
  withFolder(async (folder, user) => {
    const full = new Error("Cannot write the backup", { cause: systemError("ENOSPC") });
    assertEquals(
      fileRemedy(full, `${folder}/log.jsonl`),
      `free space on the disk of ${folder}, or let the user ${user} use more of it: df -h ${folder} shows how much is left`,
    );
    const readOnly = fileRemedy(systemError("EROFS", `${folder}/log.jsonl`))!;
    const start =
      `the file system of ${folder} is read-only for the user ${user}: as root, mount -o remount,rw $(stat -c %m ${folder});`;
    assert(readOnly.startsWith(start), readOnly);
    await Promise.resolve();
  }));

test("fileRemedy() says nothing of other errors", () => {
  assertEquals(fileRemedy(new Error("No error of the system")), undefined);
  assertEquals(fileRemedy(systemError("EPIPE", "/tmp/file")), undefined);
  assertEquals(fileRemedy(systemError("ENOSPC")), undefined);
  assertEquals(fileRemedy("a text"), undefined);
});

test("writeRemedy() lets the user own a file and those beside it, if its folder can be written", () =>
  withFolder(async (folder, user) => {
    const path = `${folder}/store.sqlite3`;
    assertEquals(
      writeRemedy(path),
      `the user ${user} may not write ${path}, or a file beside it: as root, let that user own them: chown ${user} ${path}*`,
    );
    assertEquals(await Array.fromAsync(Deno.readDir(folder)), []);
    assert(writeRemedy(`${folder}/none/store.sqlite3`).includes(`install -d -o ${user} `));
  }));
