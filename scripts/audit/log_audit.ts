import type { RecordedLine } from "../../events/event.ts";
import { LINE_FEED } from "../../src/encoding/pack_lines.ts";
import type { Head } from "../../src/log/head.ts";
import { linesOf } from "../../src/log/read_log.ts";
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
  #verifier = new LogVerifier();
  #position = 0;
  #lines = 0;
  /** Position of a line whose `previoushash` is not the hash of the line before it. */
  #break: number | undefined;
  /** A record whose lines, from `expectedPosition` on, do not end at `last`, the position of its key. */
  #wrongKey: { expectedPosition: number; last: number } | undefined;

  constructor(findings: Findings, { checkpoint, comparePublished }: LogAuditOptions) {
    this.#findings = findings;
    this.#checkpoint = checkpoint;
    this.#published = comparePublished?.();
    this.#compareWithCheckpoint();
  }

  /** Begins after the first lines of the log, of which the last has that position and hash. */
  startAfter(position: number, hash: string): void {
    this.#verifier.startAfter(position, hash);
    this.#position = position;
    this.#compareWithCheckpoint();
  }

  /** Position of the last line verified. */
  get position(): number {
    return this.#position;
  }

  /** Number of lines verified. */
  get lines(): number {
    return this.#lines;
  }

  /** Whether every line could be read, so that {@linkcode head} is complete. */
  get isComplete(): boolean {
    return this.#verifier.isComplete;
  }

  /** The head that belongs to the lines verified. */
  get head(): Head {
    return this.#verifier.head;
  }

  /**
   * Verifies the next record of a store, whose key names its last position. Returns the lines that can be
   * compared with the projections.
   */
  verifyRecord(last: number, value: unknown): RecordedLine[] {
    const lines = linesOf(last, value);
    if (lines?.[0].position !== this.#position + 1) return this.#verifyDamaged(last, value);
    this.#explainKey(lines[0].position);
    return lines.flatMap(({ position, line }) => this.verify(line, position) ?? []);
  }

  /**
   * Verifies a record that does not hold the lines from the next position to that of its key. Takes from it
   * what can be read, so that one damage is one fault, and the other lines are still compared.
   */
  #verifyDamaged(last: number, value: unknown): RecordedLine[] {
    const expectedPosition = this.#position + 1;
    const faultsBefore = this.#findings.countOf("line");
    const lines = splitValue(value);
    const sequences = lines.map(sequenceOf);
    if (lines.length === 0 || sequences[0] > last) {
      this.#explainKey(expectedPosition);
      const fault = lines.length === 0 ? "no lines of the log" : `line ${sequences[0]}`;
      const position = Math.min(expectedPosition, last);
      this.#fault(`The record at position ${last} holds ${fault}`, position);
      if (lines.length === 0 && last >= expectedPosition) this.#skipTo(last);
      return [];
    }
    // If the first line is at the position that the key says, lines before it are missing or stored twice.
    const first = last - lines.length + 1;
    const fitsKey = sequences[0] === first || first === expectedPosition;
    const positionOf = (index: number) => {
      if (fitsKey) return first + index;
      return sequences[index] <= last ? sequences[index] : this.#position + 1;
    };
    this.#explainKey(positionOf(0));
    const verified: RecordedLine[] = [];
    const repeated: number[] = [];
    for (const [index, line] of lines.entries()) {
      const position = positionOf(index);
      if (position <= this.#position) {
        repeated.push(position);
        continue;
      }
      // A line that cannot be read may be what is left of several.
      const next = sequences.slice(index + 1).find((it) => it > position && it <= last);
      const through = fitsKey ? position : (next ?? last + 1) - 1;
      const one = this.verify(line, position, through);
      if (one !== undefined) verified.push(one);
    }
    if (repeated.length > 0) {
      const from = Math.min(...repeated);
      const which = linesText(from, Math.max(...repeated));
      const where = `in the record at position ${last}`;
      this.#fault(`${which} stored twice or out of order, ${where}`, from);
    }
    if (this.#findings.countOf("line") > faultsBefore) return verified;
    if (this.#position !== last) this.#wrongKey = { expectedPosition, last };
    else {
      const message = `The record at position ${last} is not lines that each end with a line feed`;
      this.#fault(message, expectedPosition);
    }
    return verified;
  }

  /**
   * Verifies the next line. Returns it if it can be compared with the projections. `storedPosition` is the
   * position that the line is stored at; absent for the lines of a file, which have only their order. If the
   * line cannot be read, the lines up to `through` are lost with it.
   */
  verify(
    line: unknown,
    storedPosition?: number,
    through = storedPosition,
  ): RecordedLine | undefined {
    const expectedPosition = this.#position + 1;
    this.#lines++;
    const { event, faults, isLinked, isNewer } = this.#verifier.verify(line, storedPosition);
    this.#position = this.#verifier.position;
    const explained = this.#explainBreak(isLinked);
    const isInOrder = this.#position === expectedPosition;
    if (isLinked === false && isInOrder && faults.length === 1) {
      this.#break = explained ? undefined : this.#position;
    } else if (isNewer && faults.length === 1) {
      this.#findings.add("newer_line", `Line ${this.#position}: ${faults[0]}`, this.#position);
    } else if (faults.length > 0) {
      const isLost = event === undefined && through !== undefined && through > this.#position;
      const which = isLost
        ? `Lines ${storedPosition} to ${through}`
        : `Line ${storedPosition ?? this.#lines}`;
      // A missing line is reported at the position where it was expected.
      const position = Math.min(expectedPosition, this.#position);
      this.#fault(`${which}: ${faults.join("; ")}`, position);
      if (isLost) this.#skipTo(through);
    }
    this.#compareWithCheckpoint();
    if (line instanceof Uint8Array) {
      this.#addPublished(this.#published?.verify(line, this.#position), this.#position);
    }
    return event?.position === this.#position ? { event, line: line as Uint8Array } : undefined;
  }

  /**
   * Ends the check. `until` is the last position of the log, and `lastHash` the hash of its last line, if there
   * is a head that names them.
   */
  end(until = this.#position, lastHash?: string): void {
    const from = this.#position + 1;
    if (from <= until) {
      const which = linesText(from, until);
      this.#fault(`${which} missing, although the head is at position ${until}`, from);
    }
    this.#explainKey(until + 1);
    const isHashKnown = lastHash !== undefined && this.#position === until;
    this.#explainBreak(isHashKnown ? lastHash === this.head.lastHash : undefined);
    this.#addPublished(this.#published?.end());
    const { position } = this.#checkpoint ?? { position: 0 };
    if (position <= this.#position) return;
    this.#findings.add(
      "checkpoint",
      `The log ends at position ${this.#position}, but the checkpoint was taken at position ` +
        `${position}: its newest events were cut off`,
      this.#position + 1,
    );
  }

  #skipTo(position: number): void {
    this.#verifier.skipTo(position);
    this.#position = position;
  }

  /**
   * If the key of the last record does not fit its lines, the next position decides: unless lines are missing
   * up to there, which is a fault of its own, the key is wrong.
   */
  #explainKey(nextPosition: number): void {
    const wrong = this.#wrongKey;
    this.#wrongKey = undefined;
    if (wrong === undefined || nextPosition > this.#position + 1) return;
    const { expectedPosition, last } = wrong;
    const from = expectedPosition === this.#position ? "line" : `lines ${expectedPosition} to`;
    const which = `${from} ${this.#position}`;
    const position = Math.min(last, this.#position);
    this.#fault(`The record of ${which} is stored at position ${last}`, position);
  }

  /**
   * If two lines do not fit together, either may have been altered. The next line decides: if it fits the
   * second line, the first was altered. Returns whether the second was altered, which then also explains why
   * the next line does not fit.
   */
  #explainBreak(isNextLinked: boolean | undefined): boolean {
    const second = this.#break;
    if (second === undefined) return false;
    this.#break = undefined;
    const first = second - 1;
    if (isNextLinked === true) {
      const why = `the previoushash of line ${second} does not match it`;
      this.#fault(`Line ${first} was altered: ${why}`, first);
    } else if (isNextLinked === false) {
      const why = "it fits neither the line before nor what follows";
      this.#fault(`Line ${second} was altered: ${why}`, second);
    } else {
      this.#fault(`Line ${first} or ${second} was altered: they do not fit together`, first);
    }
    return isNextLinked === false;
  }

  #fault(message: string, position: number): void {
    this.#findings.add("line", message, position);
  }

  #addPublished(fault: string | undefined, position?: number): void {
    if (fault !== undefined) this.#findings.add("published", fault, position);
  }

  #compareWithCheckpoint(): void {
    if (this.#checkpoint?.position !== this.#position) return;
    const { position, hash } = this.#checkpoint;
    const { lastHash } = this.#verifier.head;
    if (lastHash === hash) return;
    this.#findings.add(
      "checkpoint",
      `Line ${position} is not the one that the checkpoint was taken at: the log up to there was ` +
        `rewritten (its SHA-256 is ${lastHash}, the checkpoint says ${hash})`,
      position,
    );
  }
}

const SEQUENCE = /"sequence":"(\d{16})"/;

/** Splits a stored value at its line feeds, whether or not it is sound. */
export function splitValue(value: unknown): Uint8Array[] {
  if (!(value instanceof Uint8Array)) return [];
  const lines: Uint8Array[] = [];
  for (let start = 0; start < value.length;) {
    const end = value.indexOf(LINE_FEED, start);
    const line = value.subarray(start, end === -1 ? undefined : end);
    if (line.length > 0) lines.push(line);
    start += line.length + 1;
  }
  return lines;
}

function linesText(from: number, to: number): string {
  return from === to ? `Line ${from} is` : `Lines ${from} to ${to} are`;
}

/** The position that a line names; `NaN` if it names none. */
function sequenceOf(line: Uint8Array): number {
  return Number(SEQUENCE.exec(new TextDecoder().decode(line))?.[1]);
}
