import { APPLICATION } from "../../../src/application.ts";
import { petKey } from "../../../src/animals/pet_keys.ts";
import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { DatabaseSync } from "node:sqlite";
import { HEAD_KEY, logKey, projectionKey } from "../../../src/eventstore_less/keyspace.ts";
import { readHead } from "../../../src/eventstore_less/log/head.ts";
import type { FaultKind } from "../../../src/eventstore_less/tools/verify/findings.ts";
import type { Mutation } from "../../../src/eventstore_less/store/store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { cutOff } from "../../support/cut_off.ts";
import { BASH } from "../run_redirected.ts";
import { followAdvice } from "../../support/follow_advice.ts";
import { useRealStore } from "../../support/real_store.ts";
import { expectTask, runTask } from "../../support/run_task.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { overwritePage } from "../../support/overwrite_page.ts";
import { changeFile, type SampleFile, withSampleFile } from "../../support/sample_file.ts";
import { utf8 } from "../../support/utf8.ts";
import { set } from "../../support/store_contract.ts";
import { setExpiry } from "../../support/set_expiry.ts";
import { withProjectCopy } from "../../support/with_project_copy.ts";

/** A fault of a store, or of an export of it. */
interface FaultCase {
  name: string;
  kind: FaultKind;
  /** The change of the store that makes the fault. */
  change?: (sample: Sample) => Promise<Mutation[]> | Mutation[];
  /** Damages the file itself, at a path. */
  damage?: (path: string) => void;
  /** Arguments of the audit. PATH and BACKUP are files. */
  args?: string[];
  /** The lines of the file BACKUP; by default fewer than the store has. `undefined` if there is no such file. */
  backup?: (lines: string[]) => string[] | undefined;
  /** How an editor has changed that file. */
  convert?: (text: string) => Uint8Array;
  /** The number of events of the sound store, by default all, and at least so many if the fault destroys some. */
  events?: (lines: string[]) => number;
}

/** A store before an accident. */
type Sample = Pick<SampleFile, "store" | "kvPath" | "lines">;

const EVENTS = 40;
const BACKED_UP = 30;

/** The lines of one commit are lost with its record. */
const LAST_COMMIT = 5;

const deleteLast = ({ lines }: Sample): Mutation[] => [
  { type: "delete", key: logKey(lines.length) },
];
const all = (lines: string[]) => lines;
const middleOf = (lines: string[]) => Math.floor(lines.length / 2);

const CASES: FaultCase[] = [
  { name: "damaged index", kind: "file_damaged", damage: overwriteIndex },
  {
    name: "damaged index, without a backup",
    kind: "file_damaged",
    damage: overwriteIndex,
    backup: () => undefined,
  },
  {
    name: "lost counter of versions",
    kind: "file_damaged",
    damage: executing("delete from data_version"),
  },
  {
    name: "file that was cut to 60 %",
    kind: "file_damaged",
    damage: (path) => Deno.truncateSync(path, Math.floor(Deno.statSync(path).size * 0.6)),
    events: () => BACKED_UP,
  },
  {
    name: "lost first page",
    kind: "file_damaged",
    damage: (path) => overwritePage(path, 0),
  },
  { name: "missing head", kind: "head", change: () => [{ type: "delete", key: HEAD_KEY }] },
  {
    name: "missing line",
    kind: "line",
    change: deleteLast,
    events: () => EVENTS - LAST_COMMIT,
  },
  { name: "log that expires", kind: "log_expires", change: expireLog },
  { name: "foreign record", kind: "foreign_record", change: () => [set(["theirs"], "")] },
  {
    name: "pets that are lost, altered, added or expire",
    kind: "record_missing",
    change: damagePets,
  },
  {
    name: "log that was cut off",
    kind: "checkpoint",
    change: ({ store }) => cutOff(store),
    args: ["--checkpoint", "PATH"],
    backup: all,
  },
  {
    name: "log that was cut off after it was published",
    kind: "published",
    change: ({ store }) => cutOff(store),
    args: ["--published", "PATH"],
    backup: all,
  },
  { name: "empty export", kind: "no_lines", args: ["--file", "BACKUP"], backup: () => [] },
  { name: "other file", kind: "no_export", args: ["--file", "BACKUP"], backup: () => ["Dear Ann"] },
  {
    name: "bad line of an export",
    kind: "line",
    args: ["--file", "BACKUP"],
    backup: (lines) => lines.with(middleOf(lines), "{}"),
    events: middleOf,
  },
  {
    name: "bad first line of an export",
    kind: "line",
    args: ["--file", "BACKUP"],
    backup: (lines) => lines.with(0, "{}"),
  },
  ...Object.entries<(text: string) => Uint8Array>({
    "a byte order mark and CRLF": (text) => utf8(`\ufeff${text.replaceAll("\n", "\r\n")}`),
    "blanks, and no last line feed": (text) => utf8(text.replaceAll("\n", " \n ").trimEnd()),
  }).map(([name, convert]): FaultCase => ({
    name,
    kind: "converted",
    args: ["--file", "BACKUP"],
    backup: all,
    convert,
  })),
  {
    name: "UTF-16 with CRLF",
    kind: "utf16",
    args: ["--file", "BACKUP"],
    backup: all,
    convert: (text) => Buffer.from(`\ufeff${text.replaceAll("\n", "\r\n")}`, "utf16le"),
  },
];

testNeeding(PROCESSES, BASH)(
  "The advice for each kind of fault, followed word for word, ends twice in a row with a sound store that is served",
  (context) =>
    withProjectCopy(async (project) => {
      const installed = new Set(namesIn(project));
      for (const each of CASES) {
        await context.step(each.name, () => expectSoundAfterAdvice(project, each));
        const made = namesIn(project).filter((name) => !installed.has(name));
        for (const name of made) await Deno.remove(`${project}/${name}`, { recursive: true });
      }
    }),
);

function namesIn(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name);
}

async function expectSoundAfterAdvice(project: string, fault: FaultCase): Promise<void> {
  const first = `${project}/store.sqlite3`;
  await withSampleFile(({ kvPath }) => copyStore(kvPath, first));
  if (fault.kind === "published") {
    await expectTask(["publish", "--new-key", "../KEY"], { kvPath: first, project });
  }
  const second = await recover(project, first, fault, (lines) => lines.slice(0, BACKED_UP));
  // The backup that the advice made is the backup of the new store.
  await recover(project, second, { ...fault, events: eventsOfSecond(fault) }, all);
}

/** In the second accident, the backup has all events of a store. */
function eventsOfSecond({ args, events }: FaultCase): FaultCase["events"] {
  return args?.includes("--file") ? events : undefined;
}

/** Makes a fault of a store, follows the advice, and resolves to the path of the store that is served then. */
async function recover(
  project: string,
  kvPath: string,
  { name, kind, change, damage, args = [], backup, convert = utf8, events }: FaultCase,
  backedUp: (lines: string[]) => string[],
): Promise<string> {
  const options = { kvPath, project };
  if (args.includes("--published")) {
    await expectTask(["publish", "PATH", "--key", "../KEY", "--origin", "log.example"], options);
  } else if (args.includes("--checkpoint")) await expectTask(["audit", ...args], options);
  const lines = (await expectTask(["log"], options)).trimEnd().split("\n");
  const copy = backup === undefined ? backedUp(lines) : backup(lines);
  const text = copy?.map((line) => `${line}\n`).join("");
  if (text !== undefined) await Deno.writeFile(`${project}/BACKUP`, convert(text));
  if (change !== undefined) {
    const mutations = await useRealStore(kvPath, async ({ store }) => {
      return await change({ store, kvPath, lines });
    });
    await changeFile(kvPath, mutations);
  }
  executing("pragma wal_checkpoint(truncate)")(kvPath);
  damage?.(kvPath);

  const { code, stdout } = await runTask(["audit", "--json", ...args], options);
  const [[urgent, advice]] = Object.entries<string>(JSON.parse(stdout).advice);
  assertEquals([code, urgent], [1, kind], name);
  const names = advice.matchAll(/[\w/-]+\.(?:jsonl|sqlite3)/g);
  for (const [file] of names) assert(!namesIn(project).includes(file), `${file} is there`);
  const followed = text === undefined ? advice.replace(/^ {2}cp -p BACKUP .*\n/m, "") : advice;
  const output = await followAdvice(followed, project, kvPath);
  const audits = advice.split("\n").filter((line) => /^ {2}.*audit/.test(line));
  const verdicts = output.match(/^(?:Not s|S)ound: \d+ events/gm) ?? [];
  assertEquals(verdicts.length, audits.length, `${name}: ${output}`);
  const counts = verdicts.map((verdict) => Number(/^Sound: (\d+)/.exec(verdict)?.[1]));
  const expected = events?.(lines) ?? lines.length;
  const isMore = counts.every((count) => count >= expected && count <= lines.length);
  assert(isMore, `${name}: ${counts} of ${expected} events: ${output}`);
  if (expected === lines.length) assertEquals(new Set(counts), new Set([expected]), name);

  const [, restored] = /^ {2}KV_PATH=(\S+) /m.exec(followed) ?? [];
  const served = restored === undefined ? kvPath : `${project}/${restored}`;
  await using service = await ServiceProcess.start(served, { NEW_STORE: "refuse" });
  assertEquals((await fetch(`${service.address}/readyz`)).status, 200, name);
  assertEquals(await service.stop(), 0);
  return served;
}

/** Removes a pet, alters another one, lets a third one expire, and adds one that no event adds. */
async function damagePets({ store, kvPath }: Sample): Promise<Mutation[]> {
  const { generation } = (await readHead(APPLICATION, store)).head;
  const pets = await store.list({ prefix: projectionKey(generation, ["pet"]) }, { limit: 3 });
  const [removed, altered, expires] = pets.map(({ key }) => key);
  setExpiry(kvPath, expires, Date.now() + 3_600_000);
  return [
    { type: "delete", key: removed },
    set(altered, "{}"),
    set(projectionKey(generation, petKey("available", 2)), '{"id":2}'),
  ];
}

/** Sets an hour as the lifetime of the last lines. */
function expireLog({ kvPath, lines }: Sample): Mutation[] {
  setExpiry(kvPath, logKey(lines.length), Date.now() + 3_600_000);
  return [];
}

/** Copies the file of a store that is open. */
async function copyStore(from: string, to: string): Promise<void> {
  executing("pragma wal_checkpoint(truncate)")(from);
  await Deno.copyFile(from, to);
}

/** Overwrites the index of the times of expiry. */
function overwriteIndex(path: string): void {
  const database = new DatabaseSync(path);
  const index =
    "select rootpage - 1 as pages from sqlite_master where name = 'kv_expiration_ms_idx'";
  const { pages } = database.prepare(index).get()!;
  database.close();
  overwritePage(path, pages as number);
}

/** Runs a statement on a file without Deno KV. */
function executing(statement: string) {
  return (path: string): void => {
    using database = new DatabaseSync(path);
    database.exec(statement);
  };
}
