import { assert, assertEquals } from "@std/assert";
import { existsSync } from "node:fs";
import { BUILT_PROGRAM, commandOf } from "../support/programs.ts";
import { storeVariables } from "../support/real_store.ts";
import { outcomeOf } from "../support/run_task.ts";
import { linesToBytes, sampleLog } from "../support/sample_log.ts";
import { fillDisk, mountDisk } from "../support/small_disk.ts";
import { TempStore } from "../support/temp_store.ts";
import { testNeeding } from "../support/test_needing.ts";
import { install } from "../support/third_party_tools.ts";

const SMALL_DISK = await install("a disk of its own, which root can mount", async () => {
  await using _disk = await mountDisk();
});

/** Less than the export takes. It fits into a pipe, so the command reads it as one chunk. */
const ROOM_BYTES = 16 * 1024;
const EXPORT = linesToBytes(sampleLog(110));

testNeeding(BUILT_PROGRAM, SMALL_DISK)(
  "On Node, a restore fails if the disk has room only for the beginning of the copy of its input",
  async () => {
    await using temp = await TempStore.make();
    await using disk = await mountDisk();
    await fillDisk(disk.folder);
    const filler = `${disk.folder}/filler`;
    const { size } = await Deno.stat(filler);
    await Deno.truncate(filler, size - ROOM_BYTES);
    assert(EXPORT.length > 2 * ROOM_BYTES);
    const outcome = await restore(EXPORT, temp.kvPath, disk.folder);
    const stderr = "error: ENOSPC: no space left on device, write\n";
    assertEquals(outcome, { code: 2, stdout: "", stderr });
    assert(!existsSync(temp.kvPath));
  },
);

async function restore(input: Uint8Array, kvPath: string, TMPDIR: string) {
  const [program, ...args] = commandOf("restore", "1", "node");
  const command = new Deno.Command(program, {
    args: [...args, "-"],
    env: { ...storeVariables(kvPath), TMPDIR },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  // The command may end before it has read everything.
  await ReadableStream.from([input]).pipeTo(command.stdin).catch(() => {});
  return await outcomeOf(command);
}
