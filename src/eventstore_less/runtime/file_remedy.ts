/** What an operator can do about an error of the file system: names the user and the folder, and a line that repairs it. */

import { closeSync, openSync, readdirSync, rmSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { getuid } from "node:process";
import { shellWord } from "./shell_word.ts";

/** What the system says about a file. */
interface SystemError extends Error {
  code: string;
  path?: string;
}

const REMEDIES: Record<string, (path: string) => string | undefined> = {
  ENOENT: remedyForMissing,
  EACCES: remedyForRights,
  EPERM: remedyForRights,
  EROFS: remedyForReadOnly,
  ENOSPC: fullRemedy,
  EDQUOT: fullRemedy,
};

/**
 * The remedy for an error, or for its cause, as a part of a sentence; `undefined` if there is none. `name` is the file that
 * was written, if the error names none.
 */
export function fileRemedy(error: unknown, name?: string): string | undefined {
  const found = systemErrorIn(error);
  const path = found?.path ?? name;
  if (found === undefined || path === undefined) return undefined;
  return REMEDIES[found.code](resolve(path));
}

/** The remedy for a file that cannot be written, together with those beside it, whose names begin with its name. */
export function writeRemedy(name: string): string {
  const path = resolve(name);
  const user = userName();
  const code = refusalOfNewFile(`${path}-trial`);
  if (code === undefined) {
    return `the user ${user} may not write ${path}, or a file beside it: as root, let that user own them: ` +
      `chown ${user} ${shellWord(path)}*`;
  }
  const folder = dirname(path);
  const isInPlace = refusalOf(path) === undefined && REMEDIES[code] === remedyForRights;
  if (!isInPlace) return REMEDIES[code]?.(path) ?? `the system refuses to write ${path}: ${code}`;
  const reason = `the user ${user} may not write in the folder ${folder}`;
  if (hasOnly(folder, basename(path))) return `${reason}: ${ownFolder(folder)}`;
  const own = join(folder, user);
  return `${reason}: as root, move the file with those beside it into a folder of its own, and name it there: ` +
    `${makeFolderCommand(own)} && mv ${shellWord(path)}* ${shellWord(own)}`;
}

/** The remedy for a file whose disk is full. */
export function fullRemedy(path: string): string {
  const folder = dirname(path);
  return `free space on the disk of ${folder}, or let the user ${userName()} use more of it: ` +
    `df -h ${shellWord(folder)} shows how much is left`;
}

/** The command that makes a folder for the user of this process. */
export function makeFolderCommand(folder: string): string {
  return `install -d -o ${userName()} -m 700 ${shellWord(resolve(folder))}`;
}

function systemErrorIn(error: unknown): SystemError | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as Partial<SystemError>;
  const isOurs = typeof code === "string" && Object.hasOwn(REMEDIES, code);
  return isOurs ? error as SystemError : systemErrorIn(error.cause);
}

/** If only the file is missing, the message says it all. */
function remedyForMissing(path: string): string | undefined {
  const folder = dirname(path);
  if (refusalOf(folder) !== "ENOENT") return undefined;
  return `the folder ${folder} does not exist: as root, make it for the user ${userName()}: ` +
    makeFolderCommand(folder);
}

function remedyForRights(path: string): string | undefined {
  const user = userName();
  const folder = dirname(path);
  const hidden = [...ancestorsOf(path), path].find((it) => refusalOf(it) === "EACCES");
  if (hidden !== undefined) {
    const closed = dirname(hidden);
    return `the user ${user} may not enter ${closed}: name a file elsewhere, in a folder that you make as root: ` +
      makeFolderCommand(`/srv/${user}`);
  }
  if (refusalOf(path) === undefined) {
    return `the user ${user} may not use ${path}: as root, let that user own it: ` +
      `chown ${user} ${shellWord(path)}`;
  }
  const reason = `the user ${user} may not write in the folder ${folder}`;
  // A folder with files of others must stay theirs.
  if (hasOnly(folder, "lost+found")) return `${reason}: ${ownFolder(folder)}`;
  const own = join(folder, user);
  return `${reason}: name ${
    join(own, basename(path))
  } in its place, and make the folder as root: ` +
    makeFolderCommand(own);
}

function remedyForReadOnly(path: string): string {
  const folder = dirname(path);
  return `the file system of ${folder} is read-only for the user ${userName()}: as root, ` +
    `mount -o remount,rw $(stat -c %m ${
      shellWord(folder)
    }); in a unit of systemd, add ReadWritePaths=${folder}`;
}

/** The folders on the way to a path, the outermost first. */
function ancestorsOf(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...ancestorsOf(folder), folder];
}

/** The code of the system if a path cannot be looked at. `access()` of Deno does not ask the system. */
function refusalOf(path: string): string | undefined {
  try {
    statSync(path);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

/** The code of the system if a file cannot be made. The store itself is not opened, because that would end locks of it. */
function refusalOfNewFile(path: string): string | undefined {
  try {
    closeSync(openSync(path, "wx", 0o600));
    rmSync(path);
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

/** How the user gets a folder in which nobody else has files. */
function ownFolder(folder: string): string {
  return `as root, let that user own it: ${makeFolderCommand(folder)}`;
}

/** Whether all names in a folder begin so. A new file system has a folder `lost+found`. */
function hasOnly(folder: string, start: string): boolean {
  try {
    return readdirSync(folder).every((name) => name.startsWith(start) || name === "lost+found");
  } catch {
    return false;
  }
}

/** The name of the user of this process, or its number if it has no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(getuid?.() ?? "of this process");
  }
}
