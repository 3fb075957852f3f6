import { expectDone } from "./third_party_tools.ts";

/** Size of a disk that gets full, in bytes. */
const DISK_BYTES = 12 * 1024 * 1024;

/** Mounts a small disk in memory on a folder of its own, until it is disposed of. It needs root. */
export async function mountDisk() {
  const folder = await Deno.makeTempDir();
  const unmount = async () => {
    await expectDone("umount", [folder]);
    await Deno.remove(folder);
  };
  await expectDone("mount", ["-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", folder]);
  return { folder, [Symbol.asyncDispose]: unmount };
}

/** Fills the disk that a folder is on. */
export function fillDisk(folder: string): Promise<unknown> {
  // It fails when the disk is full.
  return expectDone("dd", ["if=/dev/zero", `of=${folder}/filler`, "bs=4096"]).catch(() => {});
}
