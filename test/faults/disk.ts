/** Size of the disk, in bytes. */
const SIZE_BYTES = 12 * 1024 * 1024;

/** A small disk in memory, mounted on its own folder until it is disposed of. Only root can mount it. */
export class Disk implements AsyncDisposable {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async mount(): Promise<Disk> {
    const folder = await Deno.makeTempDir();
    try {
      await run("mount", "-t", "tmpfs", "-o", `size=${SIZE_BYTES}`, "tmpfs", folder);
    } catch (error) {
      await Deno.remove(folder);
      throw error;
    }
    return new Disk(folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await run("umount", this.folder);
    await Deno.remove(this.folder);
  }
}

/** Runs a system command. If it fails, rejects with its standard error. */
export async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, {
    args,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`${command}: ${new TextDecoder().decode(stderr).trim()}`);
}
