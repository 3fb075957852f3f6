import type { RecordedLine } from "../../events/event.ts";
import { unpackLines } from "../../src/encoding/pack_lines.ts";
import type { Head } from "../../src/log/head.ts";
import { LogVerifier } from "../../src/log/log_verifier.ts";
import type { Findings } from "./findings.ts";

/** Identifies the end of a sound log. With it, a later audit proves that the log was only appended to. */
export interface Checkpoint {
  /** Position of the last line then; 0 for an empty log. */
  position: number;
  /** SHA-256 (hex) of that line. */
  hash: string;
}

/** Compares the lines with a copy outside of the store. Each method returns a fault, worded for an operator. */
export interface LineComparison {
  /** Compares the next line, which is at that position. */
  verify(line: Uint8Array, position: number): string | undefined;
  /** Compares the log as a whole. */
  end(): string | undefined;
}

export interface LogAuditOptions {
  /** A checkpoint from an earlier audit, which this log must extend. */
  checkpoint?: Checkpoint;
  /** Begins a comparison with what was published of the log. */
  comparePublished?: () => LineComparison;
}

/** The part of an audit that checks the log, from a store or from an export. */
export class LogAudit {
  #findings: Findings;
  #checkpoint: Checkpoint | undefined;
  #published: LineComparison | undefined;
  readonly verifier = new LogVerifier();
  #isSound = true;
  /** The last line, if its only fault is that it does not fit to the line before. */
  #break: { position: number; message: string } | undefined;

  constructor(findings: Findings, { checkpoint, comparePublished }: LogAuditOptions) {
    this.#findings = findings;
    this.#checkpoint = checkpoint;
    this.#published = comparePublished?.();
    this.#compareWithCheckpoint();
  }

  /** Begins after the first lines of the log, of which the last has that position and hash. */
  startAfter(position: number, hash: string): void {
    this.verifier.startAfter(position, hash);
    this.#compareWithCheckpoint();
  }

  /** Position of the last line verified. */
  get position(): number {
    return this.verifier.position;
  }

  /** Whether no line has a fault. Only then do the records of the projections follow from the lines. */
  get isSound(): boolean {
    return this.#isSound;
  }

  /** The head that belongs to the lines verified. */
  get head(): Head {
    return this.verifier.head;
  }

  /** Verifies the next record of a store, whose key names its last position. Returns the lines that are sound. */
  verifyRecord(last: number, value: unknown): RecordedLine[] {
    const from = this.position + 1;
    const faults = this.#findings.countOf("line");
    const lines = unpackLines(value);
    const verified = (lines ?? []).flatMap((line) => this.verify(line) ?? []);
    if (lines !== undefined && this.position === last) return verified;
    // A fault of a line explains why the lines do not end at the position of the key.
    if (this.#findings.countOf("line") === faults) {
      const message =
        `The record at position ${last} does not hold exactly lines ${from} to ${last}`;
      this.#fault(message, Math.min(this.position, last) + 1);
    }
    if (this.position < last) this.verifier.skipTo(last);
    return verified;
  }

  /** Verifies the next line. Returns it if it is sound. */
  verify(line: Uint8Array): RecordedLine | undefined {
    const expectedPosition = this.position + 1;
    const { event, faults, isUnlinked, isNewer } = this.verifier.verify(line);
    const isExplained = this.#explainBreak(isUnlinked);
    const message = `Line ${expectedPosition}: ${faults.join("; ")}`;
    // A missing line is reported where it was expected.
    const position = Math.min(expectedPosition, this.position);
    if (faults.length > Number(isUnlinked) + Number(isNewer)) this.#fault(message, position);
    else {
      if (isNewer) this.#fault(message, position, "newer_line");
      if (isUnlinked) this.#isSound = false;
      if (isUnlinked && !isExplained) this.#break = { position, message };
    }
    this.#compareWithCheckpoint();
    this.#addPublished(this.#published?.verify(line, this.position), this.position);
    return event === undefined || faults.length > 0 ? undefined : { event, line };
  }

  /** Ends the check. `until` is the last position of the log, if there is a head that names it. */
  end(until = this.position): void {
    this.#explainBreak(false);
    const from = this.position + 1;
    if (from <= until) {
      const which = from === until ? `Line ${from} is` : `Lines ${from} to ${until} are`;
      this.#fault(`${which} missing, although the head is at position ${until}`, from);
    }
    this.#addPublished(this.#published?.end());
    const { position } = this.#checkpoint ?? { position: 0 };
    if (position < from) return;
    this.#findings.add(
      "checkpoint",
      `The log ends at position ${this.position}, but the checkpoint was taken at position ` +
        `${position}: its newest events were cut off`,
      from,
    );
  }

  /**
   * Of two lines that do not fit, either may have been altered. If the next line does not fit the second one either,
   * that one was, which explains both. Returns whether it is so.
   */
  #explainBreak(isNextUnlinked: boolean): boolean {
    if (this.#break === undefined) return false;
    const { position, message } = this.#break;
    this.#break = undefined;
    this.#fault(message, isNextUnlinked ? position : Math.max(1, position - 1));
    return isNextUnlinked;
  }

  #fault(message: string, position: number, kind: "line" | "newer_line" = "line"): void {
    this.#isSound = false;
    this.#findings.add(kind, message, position);
  }

  #addPublished(fault: string | undefined, position?: number): void {
    if (fault !== undefined) this.#findings.add("published", fault, position);
  }

  #compareWithCheckpoint(): void {
    if (this.#checkpoint?.position !== this.position) return;
    const { position, hash } = this.#checkpoint;
    const { lastHash } = this.head;
    if (lastHash === hash) return;
    this.#findings.add(
      "checkpoint",
      `Line ${position} is not the one that the checkpoint was taken at: the log up to there was ` +
        `rewritten (its SHA-256 is ${lastHash}, the checkpoint says ${hash})`,
      position,
    );
  }
}
