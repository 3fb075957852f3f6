/** Collects the faults that an audit finds, and words its report. */

import type { Head } from "../../definitions.ts";
import type { StoreDamagedError } from "../../store/store_errors.ts";
import type { Application } from "../../application.ts";
import { formatCount, formatCounted } from "../format.ts";
import {
  adviceFor,
  adviceForNote,
  FAULT_KINDS,
  type FaultKind,
  NOTE_KINDS,
  type NoteKind,
} from "./advice.ts";

/** How many faults and notes of each kind are kept; all are counted. */
const FAULTS_KEPT_PER_KIND = 20;

export interface Fault {
  kind: FaultKind;
  position?: number;
  message: string;
}

/** An observation that is not a fault. */
export interface Note {
  kind: NoteKind;
  /** Positions of the events that it is about. */
  positions?: number[];
  message: string;
}

/** The result of an audit. It is plain data, so that `JSON.stringify()` keeps all of it. */
export interface AuditReport {
  /** Whether the log, the head and every record that was compared are as the application wrote them. */
  sound: boolean;
  /** The reason why the audit has no result, if it has none. */
  unfinished: string | undefined;
  /** Last position audited. If the log is sound, `position` and `hash` form a checkpoint. */
  position: number;
  /** SHA-256 (hex) of the line at that position. */
  hash: string;
  /** How many subjects there are, by their names in the plural: `{ invoices: 3 }`. */
  summary: Record<string, number>;
  /** Number of faults of each kind. */
  counts: Partial<Record<FaultKind, number>>;
  /** What to do about each kind of fault found, the most urgent first. */
  advice: Partial<Record<FaultKind, string>>;
  /** Absent if no fault has a position. */
  firstBadPosition: number | undefined;
  /** The first faults of each kind, in order of their positions. */
  faults: Fault[];
  /** The first notes of each kind. */
  notes: Note[];
  /** Number of notes of each kind. */
  noteCounts: Partial<Record<NoteKind, number>>;
  /** What to do about each kind of note after which the operator should do something. */
  noteAdvice: Partial<Record<NoteKind, string>>;
}

export class Findings {
  #application: Application;
  readonly notes: Note[] = [];
  /** Number of notes of each kind. */
  readonly noteCounts: Partial<Record<NoteKind, number>> = {};
  readonly faults: Fault[] = [];
  /** Number of faults of each kind. */
  readonly counts: Partial<Record<FaultKind, number>> = {};
  total = 0;
  /** The reason if the audit could not judge all records. */
  unfinished: string | undefined;

  /** With `damage`, the file of the store is known to be damaged. */
  constructor(application: Application, damage?: StoreDamagedError) {
    this.#application = application;
    if (damage === undefined) return;
    this.add("file_damaged", `The file of the store is damaged: ${damage.reason}`);
  }

  add(kind: FaultKind, message: string, position?: number): void {
    const number = (this.counts[kind] ?? 0) + 1;
    this.counts[kind] = number;
    this.total++;
    if (number > FAULTS_KEPT_PER_KIND) return;
    const fault = position === undefined ? { kind, message } : { kind, position, message };
    this.faults.push(fault);
  }

  note(note: Note): void {
    const number = (this.noteCounts[note.kind] ?? 0) + 1;
    this.noteCounts[note.kind] = number;
    if (number <= FAULTS_KEPT_PER_KIND) this.notes.push(note);
  }

  /** Notes that a replay has replaced the generation under audit: it may have removed the records that are missing. */
  noteReplaced(generation: number): void {
    this.unfinished =
      `A replay has ended meanwhile, and removes the records of generation ${generation}, ` +
      "which the audit has compared";
  }

  /** `isExport` is true if the lines are not those of a store. */
  report(head: Head, isExport = false): AuditReport {
    const { position, lastHash } = head;
    const faults = this.faults.toSorted((one, other) =>
      (one.position ?? Infinity) - (other.position ?? Infinity)
    );
    const firstLine = faults.find(({ kind }) => kind === "line")?.position ?? Infinity;
    const lastSound = Math.min(firstLine - 1, position);
    const kinds = (Object.keys(FAULT_KINDS) as FaultKind[]).filter((kind) => this.counts[kind]);
    const advice: Partial<Record<FaultKind, string>> = Object.fromEntries(
      kinds.map((kind) => [kind, adviceFor(kind, lastSound, isExport)]),
    );
    const noteKinds = NOTE_KINDS.filter((kind) => this.noteCounts[kind]);
    const noteAdvice: Partial<Record<NoteKind, string>> = Object.fromEntries(
      noteKinds.map((kind) => [kind, adviceForNote(kind)])
        .filter(([, advice]) => advice !== undefined),
    );
    return {
      sound: faults.length === 0 && this.unfinished === undefined,
      unfinished: this.unfinished,
      position,
      hash: lastHash,
      summary: summaryOf(this.#application, head),
      counts: this.counts,
      advice,
      firstBadPosition: faults[0]?.position,
      faults,
      notes: this.notes,
      noteCounts: this.noteCounts,
      noteAdvice,
    };
  }
}

/** The report in words, for an operator. `extended` are sentences about what a sound log extends. */
export function describe(report: AuditReport, extended: string[] = []): string {
  const { sound, unfinished, position, summary, hash, counts, faults, advice } = report;
  const { firstBadPosition } = report;
  const noted = describeNotes(report);
  if (sound) {
    const counted = [formatCounted(position, "event"), ...describeSummary(summary)].join(", ");
    return [`Sound: ${counted}.`, ...extended, `The last line's SHA-256 is ${hash}.`, ...noted]
      .join("\n");
  }
  if (faults.length === 0) return [`No result: ${unfinished}. Audit again.`, ...noted].join("\n");
  const total = Object.values(counts).reduce((sum, number) => sum + number, 0);
  const more = total - faults.length;
  return [
    `Not sound: ${formatCounted(total, "fault")} in ${formatCounted(position, "event")}.` +
    (firstBadPosition === undefined ? "" : ` The first bad position is ${firstBadPosition}.`),
    ...faults.map(({ message }) => `- ${message}`),
    ...(more > 0 ? [`- and ${formatCount(more)} more`] : []),
    ...(unfinished === undefined ? [] : [`${unfinished}.`]),
    `Next: ${Object.values(advice)[0]}`,
    ...noted,
  ].join("\n");
}

function summaryOf(application: Application, { counts }: Head): Record<string, number> {
  const summaries = application.collections.map(({ name, summaryOf }) =>
    summaryOf?.(counts[name] ?? {})
  );
  return Object.assign({}, ...summaries);
}

function describeSummary(summary: Record<string, number>): string[] {
  return Object.entries(summary).map(([name, number]) => formatCounted(number, name.slice(0, -1)));
}

function describeNotes({ notes, noteCounts, noteAdvice }: AuditReport): string[] {
  const total = Object.values(noteCounts).reduce((sum, number) => sum + number, 0);
  const more = total - notes.length;
  return [
    ...notes.map(({ message }) => `Note: ${message}.`),
    ...(more > 0 ? [`Note: there are ${formatCount(more)} more of these.`] : []),
    ...Object.values(noteAdvice),
  ];
}
