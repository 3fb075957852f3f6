/** The advice for each kind of fault that an audit finds. */

import { type AuditReport, type FaultKind, type NoteKind, shellWord } from "eventstore-less/tools";
import {
  commandName,
  makeStoreCommand,
  namesOfNewFiles,
  newStore,
  switchAdvice,
  switchCommand,
} from "../../src/runtime/words.ts";
import { repairCommand } from "../cli/advice_on_error.ts";

/** The names for the commands of an advice, as far as an operator has given them. A word in capitals stands for an unknown one. */
export interface AdviceContext {
  isExport: boolean;
  /** The path of the store, if it is a file. */
  store?: string;
  /** The export that is audited, or the last known backup of the store. */
  backup?: string;
  /** The argument of `--checkpoint`. */
  checkpoint?: string;
  /** The argument of `--published`. */
  published?: string;
}

/** The fault for which an advice is made. The log is sound up to the position `lastSound`. */
interface Fault {
  kind: string;
  lastSound: number;
  /** The path of the store, if it is a file. */
  store: string | undefined;
  /** The export or backup: its path, or the word BACKUP. */
  backup: string;
  /** The argument of the audit with which the log is compared, or the word PATH. */
  path: string;
  /** Names the new files of the advice. */
  nameOf(file: string): string;
}

/** The actions that an audit advises. A line that begins with two spaces is a command. */
const ACTIONS: Record<Action, (fault: Fault) => string> = {
  upgrade: () =>
    "Upgrade the program, then audit again: the newer lines may also explain other faults.",
  recover: ({ store, backup, nameOf }) =>
    `\
Stop the service${keepStore(store, nameOf)}\
Copy the newest backup, and let the copy continue with \
every line that the damaged store still gives (without a backup, leave out the first command):
  cp -p ${backup} ${nameOf("recovered.jsonl")}
  ${commandName(`backup ${nameOf("recovered.jsonl")}`)}
It says at which position the copy ends, and exits with 1 if it met a fault. Check the copy, restore it into a new store, and \
audit that:
  ${commandName(`audit --file ${nameOf("recovered.jsonl")}`)}
${onNewStore([`restore ${nameOf("recovered.jsonl")}`, "audit"], nameOf)}
If the backup met a fault, lines after a gap may be readable. They cannot be restored, because they do not continue the \
lines before the gap. Keep them as evidence of what was acknowledged, with all others that can be read:
  (umask 077; ${commandName("log --recover")} > ${nameOf("evidence.jsonl")})${
      serveNewStore(nameOf)
    }`,
  evidence: ({ kind, backup, path, nameOf }) =>
    `\
Stop the service, and change nothing: an older copy of the store was put back, the history was altered, or this is \
another log. Keep the store, the backups and ${path} as evidence. Find the newest backup with which this audit exits with 0 \
(if there is none, acknowledged events are lost, and the backup with the most events has most of them):
  ${commandName(`audit --${kind} ${path} --file ${backup}`)}
Restore it into a new store, and audit that:
${onNewStore([`restore ${backup}`, `audit --${kind} ${path}`], nameOf)}${serveNewStore(nameOf)}`,
  replay: () =>
    `\
Write all records again from the log, then audit again:
  ${commandName("replay")}
  ${commandName("audit")}`,
  copy: ({ nameOf }) =>
    `\
Make the export again from the store, or use an older one:
  ${commandName("log")} > ${nameOf("export.jsonl")}
  ${commandName("audit --file -")} < ${nameOf("export.jsonl")}`,
  repair: ({ kind, backup, nameOf }) =>
    `\
Keep the file, and repair a copy of it, which gets the bytes of the log again. Then use that:
  ${repairCommand(kind as "converted" | "utf16", backup, nameOf("repaired.jsonl"))}
  ${commandName("audit --file -")} < ${nameOf("repaired.jsonl")}`,
  cut: ({ lastSound, backup, nameOf }) =>
    `\
Make the export again from the store, or use an older one. If lines are missing because the command log had --until or \
another flag that selects events, the export is no prefix of the log: use --to there. If there is neither, restore the \
first events of this one, up to position ${lastSound}, into a new store:
${onNewStore([`restore --to ${lastSound} ${backup}`, "audit"], nameOf)}${serveNewStore(nameOf)}`,
};

/** How the damaged store is kept, as the end of a sentence. The steps after it write nothing to a database. */
function keepStore(store: string | undefined, nameOf: Fault["nameOf"]): string {
  if (store === undefined) return ", and keep the damaged database. ";
  const folder = nameOf("damaged.store");
  const copy = `mkdir ${folder} && cp -p ${shellWord(store)}* ${folder}`;
  return `, and keep a copy of all files of the store:\n  ${copy}\n`;
}

/** The last step. */
function serveNewStore(nameOf: Fault["nameOf"]): string {
  const store = newStore(nameOf);
  const command = switchCommand(store);
  return command === undefined
    ? `\nThen ${switchAdvice(store)}.`
    : `\nThen let the service use the new store:\n  ${command}`;
}

/** The lines of commands on a new store. A database is made first. */
function onNewStore(commands: string[], nameOf: Fault["nameOf"]): string {
  const made = makeStoreCommand(nameOf);
  const lines = commands.map((command) => `  ${newStore(nameOf)} ${commandName(command)}`);
  return [...(made === undefined ? [] : [`  ${made}`]), ...lines].join("\n");
}

type Action =
  | "upgrade"
  | "recover"
  | "evidence"
  | "replay"
  | "copy"
  | "repair"
  | "cut";

/** The action for each kind, the most urgent first. */
const ACTION_OF = {
  newer_line: "upgrade",
  file_damaged: "recover",
  checkpoint: "evidence",
  published: "evidence",
  line: "recover",
  head: "recover",
  log_expires: "recover",
  foreign_record: "recover",
  record_missing: "replay",
  record_extra: "replay",
  record_altered: "replay",
  record_expires: "replay",
  converted: "repair",
  utf16: "repair",
  no_lines: "copy",
  no_export: "copy",
} as const satisfies Record<FaultKind, Action>;

/** The advice for each kind of fault in a report, the most urgent first. */
export function adviceOf(
  { counts, lastSound }: Pick<AuditReport, "counts" | "lastSound">,
  context: AdviceContext,
): Partial<Record<FaultKind, string>> {
  const kinds = (Object.keys(ACTION_OF) as FaultKind[]).filter((kind) => counts[kind]);
  return Object.fromEntries(kinds.map((kind) => [kind, adviceFor(kind, lastSound, context)]));
}

/** The advice for faults of a kind. The log is sound up to `lastSound`. */
export function adviceFor(
  kind: FaultKind,
  lastSound: number,
  { isExport, store, backup = "BACKUP", ...paths }: AdviceContext,
): string {
  const action = isExport && kind === "line" ? actionForLine(lastSound) : ACTION_OF[kind];
  const path = (kind === "published" ? paths.published : paths.checkpoint) ?? "PATH";
  return ACTIONS[action]({
    kind,
    lastSound,
    store,
    backup: shellWord(backup),
    path: shellWord(path),
    nameOf: namesOfNewFiles(),
  });
}

/** For an export with a bad line. */
function actionForLine(lastSound: number): Action {
  return lastSound === 0 ? "copy" : "cut";
}

/** The advice for each kind of note after which the operator should do something. */
export function noteAdviceOf(
  { noteCounts }: Pick<AuditReport, "noteCounts">,
): Partial<Record<NoteKind, string>> {
  if (!noteCounts.idempotency_key_repeated) return {};
  const look = commandName("log --from POSITION --to POSITION --pretty");
  return {
    idempotency_key_repeated:
      "The record of the first use was lost, or a clock was far behind, so a request that was " +
      `sent again was probably carried out twice. Look at both events (${look}). If they say the same twice, undo one ` +
      "of the two.",
  };
}
