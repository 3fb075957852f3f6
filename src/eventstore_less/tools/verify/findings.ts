/** Collects the faults that an audit finds, for its report. */

import type { Head } from "../../definitions.ts";
import type { StoreDamagedError } from "../../store/store_errors.ts";
import type { Application } from "../../application.ts";
import { summaryOf } from "../summary_of.ts";

/**
 * The kinds of faults:
 *
 * - `newer_line`: a newer version wrote the line.
 * - `file_damaged`: a part of the file of the store cannot be read.
 * - `checkpoint`, `published`: the log does not extend the checkpoint, or the published log.
 * - `line`, `head`: a line of the log or its head is missing or wrong.
 * - `log_expires`: the store will delete a part of the log or the head.
 * - `foreign_record`: another program wrote the record.
 * - `record_missing`, `record_altered`: a record is not there or is not what the log says.
 * - `record_extra`: no event makes the record.
 * - `record_expires`: the store will delete the record.
 * - `converted`, `utf16`: another program changed the bytes of the export.
 * - `no_lines`, `no_export`: the export is empty, or is not one.
 */
export type FaultKind =
  | "newer_line"
  | "file_damaged"
  | "checkpoint"
  | "published"
  | "line"
  | "head"
  | "log_expires"
  | "foreign_record"
  | "record_missing"
  | "record_extra"
  | "record_altered"
  | "record_expires"
  | "converted"
  | "utf16"
  | "no_lines"
  | "no_export";

/**
 * The kinds of notes:
 *
 * - `idempotency_key_repeated`: the record of the first use was lost, or a clock was far behind, so a repeated request was
 *   probably carried out twice.
 * - `only_log_audited`: the other records could not be compared.
 * - `replay_not_ended`: a replay is running, or was killed.
 * - `expiry_not_audited`: the store does not expose which records expire.
 */
export type NoteKind =
  | "idempotency_key_repeated"
  | "only_log_audited"
  | "replay_not_ended"
  | "expiry_not_audited";

/** How many faults and notes of each kind are kept; all are counted. */
const FAULTS_KEPT_PER_KIND = 20;

/** A fault of the log or of a record. */
export interface Fault {
  /** What is wrong. */
  kind: FaultKind;
  /** Position of the event that it is about, if it is about one. */
  position?: number;
  /** The fault in words. */
  message: string;
}

/** An observation that is not a fault. */
export interface Note {
  /** What was observed. */
  kind: NoteKind;
  /** Positions of the events that it is about. */
  positions?: number[];
  /** The observation in words. */
  message: string;
}

/** What an audit found. */
export interface AuditReport {
  /** Whether the audit judged everything, and found no fault. */
  sound: boolean;
  /** The reason why the audit has no result, if it has none. */
  unfinished: string | undefined;
  /** Last position audited. If the log is sound, `position` and `hash` form a checkpoint. */
  position: number;
  /** SHA-256 (hex) of the line at that position. */
  hash: string;
  /** The last position before the first bad line. */
  lastSound: number;
  /** How many subjects there are, as the collections say: `{ bookings: 3 }`. */
  summary: Record<string, number>;
  /** Number of faults of each kind. */
  counts: Partial<Record<FaultKind, number>>;
  /** Absent if no fault has a position. */
  firstBadPosition: number | undefined;
  /** The first faults of each kind, in order of their positions. */
  faults: readonly Fault[];
  /** The first notes of each kind. */
  notes: readonly Note[];
  /** Number of notes of each kind. */
  noteCounts: Partial<Record<NoteKind, number>>;
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

  report(head: Head): AuditReport {
    const { position, lastHash } = head;
    const faults = this.faults.toSorted((one, other) =>
      (one.position ?? Infinity) - (other.position ?? Infinity)
    );
    const firstLine = faults.find(({ kind }) => kind === "line")?.position ?? Infinity;
    return {
      sound: faults.length === 0 && this.unfinished === undefined,
      unfinished: this.unfinished,
      position,
      hash: lastHash,
      lastSound: Math.min(firstLine - 1, position),
      summary: summaryOf(this.#application, head),
      counts: this.counts,
      firstBadPosition: faults[0]?.position,
      faults,
      notes: this.notes,
      noteCounts: this.noteCounts,
    };
  }
}
