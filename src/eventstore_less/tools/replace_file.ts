import type { Stats } from "node:fs";
import { chmod, chown, lstat, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Replaces a file atomically and durably: a reader finds either the old content or the new one. Follow symbolic links
 * first (`realPath()`). Rejects as {@linkcode moveIntoPlace} does.
 */
export async function replaceFile(path: string, content: string): Promise<void> {
  // In the same folder, because a rename is atomic only within a file system.
  const draft = `${path}.${crypto.randomUUID()}.tmp`;
  try {
    await writeFile(draft, content, { flag: "wx", flush: true });
    await moveIntoPlace(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    // An operator knows the file, and not its draft.
    if (error instanceof Error) error.message = error.message.replaceAll(draft, path);
    const isOfDraft = (error as NodeJS.ErrnoException).path === draft;
    if (isOfDraft) (error as NodeJS.ErrnoException).path = path;
    throw error;
  }
  await syncPath(dirname(path));
}

/**
 * Moves a new file to a path. It gets the owner, the group and the mode of a file that it replaces there. Rejects if it
 * cannot have these, and as {@linkcode replaceableAt} does.
 */
export async function moveIntoPlace(draft: string, path: string): Promise<void> {
  const replaced = await replaceableAt(path);
  if (replaced !== undefined) {
    const { uid, gid } = await stat(draft);
    if (uid !== replaced.uid || gid !== replaced.gid) {
      await chown(draft, replaced.uid, replaced.gid).catch((cause) => {
        const message = `${path} belongs to another user or group, which a new file could not keep`;
        throw new Error(`${message}: run this as that user`, { cause });
      });
    }
    // After the owner, because its change takes rights away.
    await chmod(draft, replaced.mode & 0o7777);
  }
  await rename(draft, path);
}

/**
 * The file that a new one can replace; `undefined` if there is none. Rejects unless it is a regular file with one name: a
 * symbolic link would end, and another name (hard link) would keep the old content.
 */
export async function replaceableAt(path: string): Promise<Stats | undefined> {
  const found = await lstat(path).catch((error) => {
    if (error.code !== "ENOENT") throw error;
  });
  if (found === undefined) return undefined;
  if (!found.isFile()) throw new Error(`${path} is not a regular file, and is not replaced`);
  if (found.nlink === 1) return found;
  const names = `${path} has ${found.nlink} names (hard links)`;
  throw new Error(`${names}, of which the others would keep the old content: remove these`);
}

/** Makes a file durable, or the names in a folder. */
export async function syncPath(path: string): Promise<void> {
  await using opened = await open(path);
  await opened.sync();
}
