/** The kinds of faults that an audit finds, and the advice for each. */

import { commandName, newFileName } from "../../runtime/command_name.ts";
import { REPAIR_COMMANDS } from "./conversion.ts";

/** The fault for which an advice is made. The log is sound up to the position `lastSound`. */
interface Fault {
  kind: string;
  lastSound: number;
}

/**
 * The actions that an audit advises. A line that begins with two spaces is a command. The operator replaces BACKUP, and
 * PATH by the argument of the audit.
 */
const ACTIONS: Record<Action, (fault: Fault) => string> = {
  upgrade: () =>
    "Upgrade the program, then audit again: the newer lines may also explain other faults.",
  recover: () =>
    `\
Stop the service, and keep a copy of all files of the store. Copy the newest backup, and let the copy continue with \
every line that the damaged store still gives (without a backup, leave out the first command):
  cp -p BACKUP ${newFileName("recovered.jsonl")}
  ${commandName(`backup ${newFileName("recovered.jsonl")}`)}
It says at which position recovered.jsonl ends, and exits with 1 if it met a fault. Check recovered.jsonl, restore it \
into a new store (with PostgreSQL: DATABASE_URL=… in place of KV_PATH=…), audit that, and let the service use it:
  ${commandName(`audit --file ${newFileName("recovered.jsonl")}`)}
  ${onNewStore(`restore ${newFileName("recovered.jsonl")}`)}
  ${onNewStore("audit")}
If the backup met a fault, lines after a gap may be readable. They cannot be restored, because they do not continue the \
lines before the gap. Keep them as evidence of what was acknowledged, with all others that can be read:
  ${commandName("log --recover")} > evidence.jsonl`,
  evidence: ({ kind }) =>
    `\
Stop the service, and change nothing: an older copy of the store was put back, the history was altered, or this is \
another log. Keep the store, the backups and PATH as evidence. Find the newest backup with which this audit exits with 0 \
(if there is none, acknowledged events are lost, and the backup with the most events has most of them):
  ${commandName(`audit --${kind} PATH --file BACKUP`)}
Restore it into a new store (with PostgreSQL: DATABASE_URL=… in place of KV_PATH=…), audit that, and let the \
service use it:
  ${onNewStore("restore BACKUP")}
  ${onNewStore(`audit --${kind} PATH`)}`,
  replay: () =>
    `\
Write all records again from the log, then audit again:
  ${commandName("replay")}
  ${commandName("audit")}`,
  copy: () =>
    `\
Make the export again from the store, or use an older one:
  ${commandName("log")} > export.jsonl
  ${commandName("audit --file -")} < export.jsonl`,
  repair: () =>
    `\
Keep the file, and repair a copy of it, which gets the bytes of the log again. Then use that:
  ${REPAIR_COMMANDS.converted}
  ${commandName("audit --file -")} < repaired.jsonl`,
  reencode: () =>
    `\
Keep the file, and repair a copy of it, which gets the bytes of the log again. Then use that:
  ${REPAIR_COMMANDS.utf16}
  ${commandName("audit --file -")} < repaired.jsonl`,
  cut: ({ lastSound }) =>
    `\
Make the export again from the store, or use an older one. If lines are missing because the command log had --until or \
another flag that selects events, the export is no prefix of the log: use --to there. If there is neither, restore the \
first events of this one, up to position ${lastSound}:
  ${onNewStore(`restore --to ${lastSound} BACKUP`)}
  ${onNewStore("audit")}`,
};

function onNewStore(command: string): string {
  return `KV_PATH=${newFileName("restored.sqlite3")} ${commandName(command)}`;
}

type Action =
  | "upgrade"
  | "recover"
  | "evidence"
  | "replay"
  | "copy"
  | "repair"
  | "reencode"
  | "cut";

/** The action for each kind, the most urgent first. */
export const FAULT_KINDS = {
  newer_line: "upgrade",
  file_damaged: "recover",
  checkpoint: "evidence",
  published: "evidence",
  line: "recover",
  head: "recover",
  /** The store will delete a part of the log or the head. */
  log_expires: "recover",
  /** Another program wrote the record. */
  foreign_record: "recover",
  record_missing: "replay",
  /** No event makes the record. */
  record_extra: "replay",
  record_altered: "replay",
  /** The store will delete the record. */
  record_expires: "replay",
  /** Another program changed the bytes of the export. */
  converted: "repair",
  utf16: "reencode",
  no_lines: "copy",
  no_export: "copy",
} as const satisfies Record<string, Action>;

export type FaultKind = keyof typeof FAULT_KINDS;

/** The advice for faults of a kind. The log is sound up to `lastSound`. */
export function adviceFor(kind: FaultKind, lastSound: number, isExport = false): string {
  const action = isExport && kind === "line" ? actionForLine(lastSound) : FAULT_KINDS[kind];
  return ACTIONS[action]({ kind, lastSound });
}

/** For an export with a bad line. */
function actionForLine(lastSound: number): Action {
  return lastSound === 0 ? "copy" : "cut";
}

/** The kinds of notes. */
export const NOTE_KINDS = [
  "idempotency_key_repeated",
  "only_log_audited",
  "replay_not_ended",
  "expiry_not_audited",
] as const;

export type NoteKind = typeof NOTE_KINDS[number];

/** The advice for notes of a kind; `undefined` if there is none. */
export function adviceForNote(kind: NoteKind): string | undefined {
  if (kind !== "idempotency_key_repeated") return undefined;
  const look = commandName("log --from POSITION --to POSITION --pretty");
  return "The record of the first use was lost, or a clock was far behind, so a request that was sent again was probably " +
    `carried out twice. Look at both events (${look}). If they say the same twice, undo one of the two.`;
}
