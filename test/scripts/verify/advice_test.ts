import { sha256Hex } from "eventstore-less/parts";
import { APPLICATION } from "../../../src/application.ts";
import { petKey } from "../../../src/animals/pet_keys.ts";
import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { DatabaseSync } from "node:sqlite";
import { HEAD_KEY, logKey, projectionKey } from "../../../src/eventstore_less/keyspace.ts";
import { encodeHead, readHead } from "../../../src/eventstore_less/log/head.ts";
import type { FaultKind } from "../../../src/eventstore_less/tools/verify/findings.ts";
import type { Key, Mutation } from "../../../src/eventstore_less/store/store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { BASH } from "../run_redirected.ts";
import { followAdvice } from "../../support/follow_advice.ts";
import { runTask } from "../../support/run_task.ts";
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
  change?: (sample: SampleFile) => Promise<Mutation[]> | Mutation[];
  /** Damages the file itself, at a path. */
  damage?: (path: string) => void;
  /** Arguments of the audit. PATH and BACKUP are files. */
  args?: string[];
  /** The lines of the file BACKUP; by default fewer than the store has. */
  backup?: (lines: string[]) => string[];
  /** How an editor has changed that file. */
  convert?: (text: string) => Uint8Array;
  /** The number of events of the sound store; by default all. */
  events?: number;
}

const EVENTS = 40;

const LAST_DELETED: Mutation = { type: "delete", key: logKey(EVENTS) };

const CASES: FaultCase[] = [
  { name: "damaged index", kind: "file_damaged", damage: overwriteIndex },
  {
    name: "lost counter of versions",
    kind: "file_damaged",
    damage: executing("delete from data_version"),
  },
  { name: "missing head", kind: "head", change: () => [{ type: "delete", key: HEAD_KEY }] },
  { name: "missing line", kind: "line", change: () => [LAST_DELETED], events: 35 },
  { name: "log that expires", kind: "log_expires", change: expiring(logKey(EVENTS)) },
  { name: "foreign record", kind: "foreign_record", change: () => [set(["theirs"], "")] },
  {
    name: "pets that are lost, altered, added or expire",
    kind: "record_missing",
    change: damagePets,
  },
  {
    name: "log that was cut off",
    kind: "checkpoint",
    change: cutOff,
    args: ["--checkpoint", "PATH"],
    backup: (lines) => lines,
  },
  {
    name: "log that was cut off after it was published",
    kind: "published",
    change: cutOff,
    args: ["--published", "PATH"],
    backup: (lines) => lines,
  },
  { name: "empty export", kind: "no_lines", args: ["--file", "BACKUP"], backup: () => [] },
  { name: "other file", kind: "no_export", args: ["--file", "BACKUP"], backup: () => ["Dear Ann"] },
  {
    name: "bad line of an export",
    kind: "line",
    args: ["--file", "BACKUP"],
    backup: (lines) => lines.with(20, "{}"),
    events: 20,
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
    backup: (lines) => lines,
    convert,
  })),
  {
    name: "UTF-16 with CRLF",
    kind: "utf16",
    args: ["--file", "BACKUP"],
    backup: (lines) => lines,
    convert: (text) => Buffer.from(`\ufeff${text.replaceAll("\n", "\r\n")}`, "utf16le"),
  },
];

testNeeding(PROCESSES, BASH)(
  "The advice for each kind of fault, followed word for word, ends with a sound store",
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

function expectSoundAfterAdvice(
  project: string,
  { name, kind, change, damage, args = [], backup, convert = utf8, events = EVENTS }: FaultCase,
): Promise<void> {
  return withSampleFile(async (sample) => {
    const { lines } = sample;
    const runOn = (task: string) => runTask(task.split(" "), { kvPath: sample.kvPath, project });
    if (kind === "published") {
      await runOn("publish --new-key KEY");
      await runOn("publish PATH --key KEY --origin log.example");
    } else if (args.includes("--checkpoint")) await runOn("audit --checkpoint PATH");
    const copy = backup?.(lines) ?? lines.slice(0, 30);
    const text = copy.map((line) => `${line}\n`).join("");
    await Deno.writeFile(`${project}/BACKUP`, convert(text));
    await changeFile(sample.kvPath, await change?.(sample) ?? []);
    const kvPath = `${project}/store.sqlite3`;
    await copyStore(sample.kvPath, kvPath);
    damage?.(kvPath);

    const { code, stdout } = await runTask(["audit", "--json", ...args], { kvPath, project });
    const [[urgent, advice]] = Object.entries<string>(JSON.parse(stdout).advice);
    assertEquals([code, urgent], [1, kind], name);
    const output = await followAdvice(advice, project, kvPath);
    const audits = advice.split("\n").filter((line) => /^ {2}.*audit/.test(line));
    const verdicts = output.split("\n").filter((line) => /^(Not s|S)ound/.test(line));
    assertEquals(
      verdicts.map((line) => line.slice(0, 16)),
      audits.map(() => `Sound: ${events} events`),
      `${name}: ${output}`,
    );
  });
}

async function cutOff({ store, lines }: SampleFile): Promise<Mutation[]> {
  const { head } = await readHead(APPLICATION, store);
  const older = { ...head, position: 35, lastHash: sha256Hex(lines[34]) };
  return [LAST_DELETED, set(HEAD_KEY, encodeHead(APPLICATION, older))];
}

/** Removes a pet, alters another one, lets a third one expire, and adds one that no event adds. */
async function damagePets({ store, kvPath }: SampleFile): Promise<Mutation[]> {
  const pets = await store.list({ prefix: projectionKey(1, ["pet"]) }, { limit: 3 });
  const [removed, altered, expires] = pets.map(({ key }) => key);
  setExpiry(kvPath, expires, Date.now() + 3_600_000);
  return [
    { type: "delete", key: removed },
    set(altered, "{}"),
    set(projectionKey(1, petKey("available", 2)), '{"id":2}'),
  ];
}

/** Sets an hour as the lifetime of a record. */
function expiring(key: Key) {
  return ({ kvPath }: SampleFile): Mutation[] => {
    setExpiry(kvPath, key, Date.now() + 3_600_000);
    return [];
  };
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
