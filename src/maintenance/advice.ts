/** The kinds of faults that an audit finds, and the advice for each. README.md has the same tables; a test compares them. */

/** The actions that an audit advises, the most urgent first. N is the last position before the first bad line. */
export const ACTIONS = {
  upgrade: "Upgrade the program, then audit again: the newer lines may also explain other faults.",
  evidence:
    "Stop the service, and change nothing: the history was altered, or this is another log. " +
    "Keep the store, the backups and the file that the log was compared with as evidence. Then find " +
    "the newest backup for which the same audit, with --file BACKUP, exits with 0, and restore it.",
  restore:
    "Stop the service, and keep a copy of the store as evidence. Restore the newest backup that " +
    "deno task audit --file BACKUP calls sound into a new store (KV_PATH). If none is, restore the events " +
    "of one up to position N: head -n N BACKUP | deno task restore -",
  move:
    "Stop the service, and export the log: deno task log > FILE. If deno task audit --file FILE calls " +
    "it sound, restore it into a new store (KV_PATH). Otherwise, restore the newest backup.",
  replay:
    "Run deno task replay, which writes all records again from the log. If the log has a fault too, " +
    "follow that advice first.",
  copy: "The copy failed. Make the export again, or use an older one.",
} as const;

type Action = keyof typeof ACTIONS;

export const FAULT_KINDS = {
  newer_line: { meaning: "A newer version of the program wrote the line", action: "upgrade" },
  checkpoint: { meaning: "The log does not extend the checkpoint", action: "evidence" },
  published: { meaning: "The log does not extend the published log", action: "evidence" },
  line: { meaning: "A line is damaged, missing, altered or impossible", action: "restore" },
  head: { meaning: "The head is missing, or does not fit the log", action: "move" },
  log_expires: { meaning: "The store will delete a part of the log or the head", action: "move" },
  foreign_record: { meaning: "Another program wrote the record", action: "move" },
  record_missing: { meaning: "A record that an event makes is missing", action: "replay" },
  record_extra: { meaning: "No event makes the record", action: "replay" },
  record_altered: { meaning: "The record is not what its event says", action: "replay" },
  record_expires: { meaning: "The store will delete the record", action: "replay" },
  no_lines: { meaning: "The export is empty", action: "copy" },
} as const satisfies Record<string, { meaning: string; action: Action }>;

export type FaultKind = keyof typeof FAULT_KINDS;

/** The advice for faults of a kind. The log is sound up to `lastSound`. */
export function adviceFor(kind: FaultKind, lastSound: number): string {
  return ACTIONS[FAULT_KINDS[kind].action].replaceAll(/\bN\b/g, String(lastSound));
}
