import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));

/** Digits of a commit that are shown: enough for every project. */
const SHOWN_DIGITS = 12;

/** The commit of this program, which Git's files name; `undefined` if its folder is no checkout, or they cannot be read. */
export function buildCommit(project = PROJECT): string | undefined {
  const folder = gitFolder(`${project}/.git`);
  const head = textOf(`${folder}/HEAD`);
  const branch = /^ref: (.+)$/.exec(head)?.[1];
  const commit = branch === undefined ? head : commitOf(folder, branch);
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, SHOWN_DIGITS) : undefined;
}

/** In a further work tree, `.git` is a file that names the folder. */
function gitFolder(path: string): string {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (isFolder) return path;
  const [, folder = path] = /^gitdir: (.+)$/.exec(textOf(path)) ?? [];
  return resolve(path, "..", folder);
}

/** The commit of a branch, which has a file, or a line in a file of many. */
function commitOf(folder: string, branch: string): string {
  const common = resolve(folder, textOf(`${folder}/commondir`));
  const own = textOf(`${common}/${branch}`);
  if (own !== "") return own;
  const line = textOf(`${common}/packed-refs`).split("\n")
    .find((line) => line.endsWith(` ${branch}`));
  return line?.split(" ")[0] ?? "";
}

/** The text of a file; empty without one. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}
