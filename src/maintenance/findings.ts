/** Collects the faults that an audit finds. */

import type { Head } from "../log/head.ts";

/** How many faults of each kind are kept; all are counted. */
export const FAULTS_KEPT_PER_KIND = 20;

export type FaultKind =
  | "head"
  | "line"
  | "record_missing"
  | "record_extra"
  | "record_altered"
  | "record_expires"
  | "foreign_record"
  | "checkpoint"
  | "published";

export interface Fault {
  kind: FaultKind;
  /** Position in the log, if the fault has one. */
  position?: number;
  /** Describes the fault to an operator. */
  message: string;
}

export interface AuditReport {
  sound: boolean;
  /** Last position audited. If the log is sound, `position` and `hash` form a checkpoint. */
  position: number;
  hash: string;
  pets: number;
  /** Number of faults of each kind found. */
  counts: Partial<Record<FaultKind, number>>;
  /** The first bad position; absent if no fault has a position. */
  firstBadPosition?: number;
  /** The first faults of each kind, in order of their positions. */
  faults: Fault[];
  /** Observations that are not faults. */
  notes: string[];
}
/** Collects the faults found, up to a limit for each kind. */
export class Findings {
  readonly notes: string[] = [];
  #faults: Fault[] = [];
  #counts: Partial<Record<FaultKind, number>> = {};
  #firstBadPosition = Infinity;

  /** `count` is the number of faults that this one represents. */
  add(kind: FaultKind, message: string, position?: number, count = 1): void {
    const before = this.#counts[kind] ?? 0;
    this.#counts[kind] = before + count;
    if (position !== undefined) {
      this.#firstBadPosition = Math.min(this.#firstBadPosition, position);
    }
    if (before >= FAULTS_KEPT_PER_KIND) return;
    this.#faults.push({ kind, ...(position === undefined ? {} : { position }), message });
  }

  countOf(kind: FaultKind): number {
    return this.#counts[kind] ?? 0;
  }

  report({ position, lastHash, lastPetId }: Head): AuditReport {
    const first = this.#firstBadPosition;
    return {
      sound: this.#faults.length === 0,
      position,
      hash: lastHash,
      pets: lastPetId,
      counts: this.#counts,
      ...(first === Infinity ? {} : { firstBadPosition: first }),
      faults: this.#faults.sort((one, other) =>
        (one.position ?? Infinity) - (other.position ?? Infinity)
      ),
      notes: this.notes,
    };
  }
}
