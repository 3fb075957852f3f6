/** How operators call the commands of this program. Every text that advises a command gets its words from here. */

import { setWords, timeInName, type Words } from "eventstore-less/startup";
import { commandPrefix } from "this-runtime/command_prefix.ts";

let program: string | undefined;

/**
 * Settles at the start that a program such as `pets` runs the commands; without one, the runtime does. Until then, the
 * messages of the engine name no command.
 */
export function callCommandsBy(name: string | undefined): void {
  program = name;
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
export function namesOfNewFiles(now = Date.now()): (name: string) => string {
  const folder = program === undefined ? "" : "/var/lib/animal-store/";
  const time = timeInName(now);
  return (name) => `${folder}${name.replace(".", `-${time}.`)}`;
}

/** The command that lets the service use a store, such as `KV_PATH=…`; `undefined` without a program that knows its settings. */
export function switchCommand(store: string): string | undefined {
  return program === undefined ? undefined : `${program} switch ${store}`;
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
    serving: (path) => `KV_PATH=${path}`,
    storeSetting: "KV_PATH",
    databaseSetting: "DATABASE_URL",
  };
}

/** An audit without the checkpoint would find an older copy of a store sound. */
function remedyForLostHead(): string {
  const seen = namesOfNewFiles()("seen.json");
  const audit = commandName(`audit --checkpoint ${seen}`);
  return `Stop the service, write the value of checkpoint into ${seen}, and run ${audit}. ` +
    "If the log does not extend it, restore the newest backup that does: with --file BACKUP, the audit exits with 0";
}
