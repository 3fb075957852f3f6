/** Checks the lines of the log in order, from the first one. An audit and a restore both use it. */

import type {
  Head,
  History,
  RecordedEvent,
  RecordedLine,
  SubjectState,
} from "../../definitions.ts";
import { sha256Hex } from "../../encoding/sha256.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../../keyspace.ts";
import { MalformedEventError, NewerVersionError, subjectOf } from "../../log/event.ts";
import { addEvent, draftOf, EMPTY_HEAD } from "../../log/head.ts";
import { readEvent } from "../../log/lines.ts";
import type { Application } from "../../application.ts";
import type { Note } from "./findings.ts";
import { ExpectedRecords } from "./expected_records.ts";
import { NumberTable } from "./number_table.ts";
import { UnsoundError } from "../unsound_error.ts";

/** How much less than a day may lie between two uses of an Idempotency-Key. Earlier versions measured it a moment later. */
const USE_TOLERANCE_MS = 60_000;

/** Minimum number of recent ids and of recent Idempotency-Keys that are remembered. */
const IDS_KEPT = 10_000;
const IDEMPOTENCY_KEYS_KEPT = 100_000;

/** A fault of a line, with a message to follow "Line 7: ". */
export interface LineFault {
  /**
   * - `newer`: a newer version wrote the line.
   * - `unlinked`: its `previoushash` does not fit the line before, so either of the two was altered.
   * - `other`: every other fault.
   */
  kind: "newer" | "unlinked" | "other";
  message: string;
}

/** What the verification of a line has found. */
export interface VerifiedLine {
  /** `undefined` if the line could not be decoded. */
  event: RecordedEvent | undefined;
  faults: readonly LineFault[];
  /** What an operator should know, although it is no fault. */
  notes: readonly Note[];
}

/**
 * Verifies lines one by one, and keeps what the later ones are compared with: the head, the last position of each subject
 * and the records. A history that the service cannot have written is a fault even if all hashes match. After a fault, the verifier
 * continues from the content of the line itself, so that one fault is not reported again for every later line. The
 * service itself uses an Idempotency-Key again if its record was lost, or if a clock is behind after its record was
 * removed, so that is a note.
 *
 * Of the data that grows with the log, it keeps only 8 bytes of each subject with a number, 16 or 24 of each record, and
 * what the histories keep of the other subjects. So it finds an id that was used twice only if fewer than
 * {@linkcode IDS_KEPT} events lie between, and an Idempotency-Key that was used twice within its day only if fewer than
 * {@linkcode IDEMPOTENCY_KEYS_KEPT} other uses do.
 */
export class LogVerifier {
  readonly application: Application;
  /** The head that must follow the verified lines, if all are sound. No replay has changed it. */
  head: Head = draftOf(EMPTY_HEAD);
  /** Of the line that is verified. */
  #faults: LineFault[] = [];
  #notes: Note[] = [];
  /** As `head.lastHash`, but `undefined` after lines that cannot be read: the next one cannot be compared. */
  #lastHash: string | undefined = EMPTY_HEAD.lastHash;
  /** Whether every line so far could be read. Only then is an unknown subject a new one. */
  #isComplete = true;
  #histories: History[];
  /**
   * The positions of the last events of the subjects, by collection and id. Subjects that an unreadable line may have
   * changed are missing.
   */
  #lastPositions: Map<string, NumberTable>;
  /** The records that follow from the verified lines. */
  readonly records: ExpectedRecords;
  /** The positions of recent ids, and the position and the time of recent uses of Idempotency-Keys. */
  #ids = new RecentUses<number>(IDS_KEPT);
  #idempotencyUses = new RecentUses<{ position: number; timeMs: number }>(IDEMPOTENCY_KEYS_KEPT);
  /** Whether a line so far names a predecessor. Lines before format 6 do not. */
  #namesPredecessors = false;
  #latestTime = "";

  constructor(application: Application) {
    this.application = application;
    const { collections } = application;
    this.#histories = collections.flatMap((collection) => collection.newHistory?.() ?? []);
    this.#lastPositions = new Map(collections.map(({ name }) => [name, new NumberTable()]));
    this.records = new ExpectedRecords(application);
  }

  /** The latest time of a verified event, in milliseconds since the Unix epoch. */
  get latestMs(): number {
    return this.#latestTime === "" ? -Infinity : Date.parse(this.#latestTime);
  }

  /** Position of the last verified line. */
  get position(): number {
    return this.head.position;
  }

  /** Verifies the next line. */
  verify(line: Uint8Array): VerifiedLine {
    this.#faults = [];
    this.#notes = [];
    const read = readEvent(this.application, line);
    // This version cannot decode the event of a newer version, but its position and its previoushash.
    const isUnreadable = read instanceof MalformedEventError;
    const isNewer = read instanceof NewerVersionError;
    const hasPosition = !isUnreadable || isNewer;
    const position = hasPosition ? read.position : this.position + 1;
    if (isUnreadable) this.#addFault(read.message, isNewer ? "newer" : "other");
    if (hasPosition) this.#checkPosition(read);
    if (isUnreadable) this.#forgetSubjects();
    else this.#checkBody({ event: read, line });
    const hash = sha256Hex(line);
    this.#lastHash = hash;
    if (isUnreadable) this.head = { ...this.head, position, lastHash: hash };
    else addEvent(this.application, this.head, read, hash);
    const event = isUnreadable ? undefined : read;
    return { event, faults: this.#faults, notes: this.#notes };
  }

  /** Verifies the next line. Throws `UnsoundError` if it has a fault. */
  expectSound(line: Uint8Array): RecordedLine {
    const lastSound = this.position;
    const { event, faults } = this.verify(line);
    if (event !== undefined && faults.length === 0) return { event, line };
    const message = `Line ${lastSound + 1}: ${messageOf(faults)}`;
    throw new UnsoundError("log_unsound", message, { lastSound, named: event?.position });
  }

  /**
   * Sentences for an operator who restores only the lines so far. `longer` has verified all lines, of
   * which some may have faults. `now` is in milliseconds since the Unix epoch.
   */
  consequencesOfCut(longer: LogVerifier, now: number): string[] {
    return this.#histories.flatMap((history, index) => {
      return history.consequencesOfCut?.(longer.#histories[index], now) ?? [];
    });
  }

  /** Continues after a position. The lines up to there cannot be read. */
  skipTo(position: number): void {
    this.#forgetSubjects();
    this.#lastHash = undefined;
    this.head = { ...this.head, position, lastHash: EMPTY_HEAD.lastHash };
  }

  /** Checks that the line is at the next position, and follows the line before. */
  #checkPosition({ position, previousHash }: RecordedEvent | NewerVersionError): void {
    const expected = this.position + 1;
    if (position !== expected) {
      this.#addFault(`its sequence says position ${position}, but ${expected} was expected`);
      this.#forgetSubjects();
    } else if (this.#lastHash !== undefined && previousHash !== this.#lastHash) {
      this.#addFault(
        "its previoushash is not the SHA-256 of the line before, so one of the two was altered",
        "unlinked",
      );
    }
  }

  #checkBody({ event, line }: RecordedLine): void {
    const { id, position } = event;
    // In lower case it is a new text: a part of a line's text would keep all of it in memory.
    if (this.#ids.add(id.toLowerCase(), position) !== undefined) {
      this.#addFault(`its id ${id} is that of an earlier event`);
    }
    // All times have the same format, so they sort as text, which avoids parsing them.
    if (event.time > this.#latestTime) this.#latestTime = event.time;
    const { collection, id: idOf } = this.application.events[event.type];
    const subjectId = idOf(event.data);
    const lastPositions = this.#lastPositions.get(collection)!;
    const before: SubjectState = {
      position: lastPositions.get(subjectId),
      hasRecord: (key, content) => this.records.has(key, content),
    };
    this.#checkPredecessor(event, before.position);
    for (const history of this.#histories) {
      for (const fault of history.check({ event, line }, before)) this.#addFault(fault);
    }
    // The subjects are numbered in order, so a larger number is a fault in a complete log, and could take much memory.
    if (!this.#isComplete || typeof subjectId === "string" || subjectId <= position) {
      lastPositions.set(subjectId, position);
      this.records.note({ event, line });
    }
    this.#noteRepeatedUse(event);
  }

  /** Checks that the line names the last event of its subject, if that event is known. */
  #checkPredecessor(event: RecordedEvent, last: number): void {
    const { predecessor } = event;
    if (predecessor !== undefined) this.#namesPredecessors = true;
    // Lines before format 6 name none.
    const isOptional = last === 0 || !this.#namesPredecessors;
    if (predecessor === last || (predecessor === undefined && isOptional)) return;
    const isSubjectUnknown = last === 0 && !this.#isComplete;
    if (isSubjectUnknown) return;
    const named = predecessor === undefined ? "names no predecessor" : `names ${predecessor}`;
    const right = last === 0 ? "had no event before" : `had its last event at position ${last}`;
    this.#addFault(`it ${named}, but its subject ${subjectOf(this.application, event)} ${right}`);
  }

  #noteRepeatedUse({ actor, idempotencyKey, position, time }: RecordedEvent): void {
    if (idempotencyKey === undefined) return;
    const timeMs = Date.parse(time);
    const last = this.#idempotencyUses.add(actor + idempotencyKey, { position, timeMs });
    if (last === undefined) return;
    const isOfSameCommand = last.position === position - 1 && last.timeMs === timeMs;
    if (isOfSameCommand) return;
    if (timeMs >= last.timeMs + IDEMPOTENCY_LIFETIME_MS - USE_TOLERANCE_MS) return;
    this.#notes.push({
      kind: "idempotency_key_repeated",
      positions: [last.position, position],
      message: `Event ${position} has the Idempotency-Key of event ${last.position}, ` +
        "less than a day after it",
    });
  }

  #addFault(message: string, kind: LineFault["kind"] = "other"): void {
    this.#faults.push({ kind, message });
  }

  /** After lines that cannot be read: what is known of subjects may be out of date. */
  #forgetSubjects(): void {
    this.#isComplete = false;
    for (const name of this.#lastPositions.keys()) this.#lastPositions.set(name, new NumberTable());
    this.records.clear();
    for (const history of this.#histories) history.lose();
  }
}

/** The messages of all faults of a line, to follow "Line 7: ". */
export function messageOf(faults: readonly LineFault[]): string {
  return faults.map(({ message }) => message).join("; ");
}

/** The last use of each name. Remembers at least as many uses as its limit, and at most twice as many. */
export class RecentUses<Use> {
  #limit: number;
  #recent = new Map<string, Use>();
  #earlier = new Map<string, Use>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a use, and returns the previous use of the name, which must be a text of its own. */
  add(name: string, use: Use): Use | undefined {
    if (this.#recent.size >= this.#limit) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    const previous = this.#recent.get(name) ?? this.#earlier.get(name);
    this.#recent.set(name, use);
    return previous;
  }
}
