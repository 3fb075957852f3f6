/** How operators call the commands of this program. Every text that advises a command gets its words from here. */

import { setWords, timeInName, type Words } from "eventstore-less/startup";
import { newDatabase } from "./new_database.ts";
import { commandPrefix } from "this-runtime/command_prefix.ts";

/** Names a new file of an advice. */
type NameOf = (name: string) => string;

let program: string | undefined;
let database: string | undefined;

/**
 * Settles at the start that a program such as `pets` runs the commands; without one, the runtime does. Also settles the
 * address of the database that the settings name. Until then, the messages of the engine name no command.
 */
export function callCommandsBy(name: string | undefined, databaseUrl?: string): void {
  program = name;
  database = databaseUrl;
  setWords(wordsOfEngine());
}

/**
 * A command, with its arguments if there are any, as an operator calls it. For `audit`, it is `deno task audit`,
 * `node animal-store.mjs audit` or `pets audit`.
 */
export function commandName(command: string): string {
  return `${program ?? commandPrefix()} ${command}`;
}

/**
 * Returns a function that names the new files of one advice: `restored.sqlite3` gets the name
 * `restored-20261129-113802.sqlite3`. With the time in it, a file is never one of an earlier advice, which may be the store
 * or the backup by now. The user of `pets` may write into this folder.
 */
export function namesOfNewFiles(now = Date.now()): NameOf {
  const folder = program === undefined ? "" : "/var/lib/animal-store/";
  const time = timeInName(now);
  return (name) => `${folder}${name.replace(".", `-${time}.`)}`;
}

/** The new store that an advice makes, of the kind that the operator has, as it precedes a command. */
export function newStore(nameOf: NameOf): string {
  return database === undefined
    ? `KV_PATH=${nameOf("restored.sqlite3")}`
    : `DATABASE_URL='${newDatabase(database, databaseNameIn(nameOf)).address}'`;
}

/** The command that makes {@linkcode newStore} before it is restored; `undefined` for a file. */
export function makeStoreCommand(nameOf: NameOf): string | undefined {
  if (database === undefined) return undefined;
  const role = program === undefined ? "$(id -un)" : "animal-store";
  return newDatabase(database, databaseNameIn(nameOf), role).command;
}

/** The time in the name of a file is also in that of a database. */
function databaseNameIn(nameOf: NameOf): string {
  return /restored-\d+-\d+/.exec(nameOf("restored.sqlite3"))![0].replaceAll("-", "_");
}

/** The command that lets the service use a store, such as `KV_PATH=…`; `undefined` without a program that knows its settings. */
export function switchCommand(store: string): string | undefined {
  return program === undefined ? undefined : `${program} switch ${store}`;
}

/** The command that shows the log of an installation. */
export const LOG_COMMAND = "journalctl --unit animal-store";

/** How the service gets another store, as a part of a sentence. */
export function switchAdvice(store: string): string {
  const command = switchCommand(store);
  return command === undefined
    ? `restart the service with ${store}`
    : `let the service use it: ${command}`;
}

function wordsOfEngine(): Words {
  const audit = commandName("audit");
  return {
    audit,
    replay: commandName("replay"),
    exportLog: `${commandName("log")} > ${namesOfNewFiles()("export.jsonl")}`,
    makeStore: commandName("keys issue --label TEXT"),
    schema: commandName("schema"),
    grants: commandName("schema --role"),
    password: "PGPASSWORD",
    passfile: "PGPASSFILE",
    lostHead: remedyForLostHead,
    auditOf: (path) => `KV_PATH=${path} ${audit}`,
    serving: (path) => switchAdvice(`KV_PATH=${path}`),
    storeSetting: "KV_PATH",
    databaseSetting: "DATABASE_URL",
  };
}

/** An audit without the checkpoint would find an older copy of a store sound. */
function remedyForLostHead(): string {
  const seen = namesOfNewFiles()("seen.json");
  const audit = commandName(`audit --checkpoint ${seen}`);
  return "Stop the service. With the value of checkpoint in place of CHECKPOINT, run " +
    `echo 'CHECKPOINT' ${intoFile(seen)}, then run ${audit}, and follow its advice. ` +
    "If it is sound, start the service again";
}

/** An audit renews its checkpoint, which must belong to the user of the program, not to root, who calls it. */
function intoFile(path: string): string {
  return program === undefined
    ? `> ${path}`
    : `| install -o animal-store -g animal-store -m 600 /dev/stdin ${path}`;
}
