/** Checks the lines of the log in order, from the first one. An audit and a restore both use it. */

import { assertNever } from "../../src/encoding/assert_never.ts";
import {
  isPetEvent,
  MalformedEventError,
  NewerVersionError,
  OPERATOR,
  type PetEvent,
  petTextOf,
  type RecordedEvent,
  type RecordedLine,
  subjectOf,
} from "eventstore-less/log/event.ts";
import { encodePet, patchPet, type Pet } from "../../events/pet.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "eventstore-less/keyspace.ts";
import { type ApiKey, issuedKey, revocationOf, revoke } from "../../src/keys/api_key.ts";
import type { Note } from "./findings.ts";
import { PetStates } from "./subject_states.ts";
import { addEvent, draftOf, EMPTY_HEAD } from "eventstore-less/log/head.ts";
import { readEvent } from "eventstore-less/log/lines.ts";
import { RefusedError } from "../cli/refused_error.ts";

const encoder = new TextEncoder();

/** The log has a fault, or a generation built from it does not match it. */
export class UnsoundError extends RefusedError {}

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

/**
 * A history that the service cannot have written is a fault even if all hashes match. After a fault, the verifier
 * continues from the content of the line itself, so that one fault is not reported again for every later line. The
 * service itself uses an Idempotency-Key again if its record was lost, or if a clock is behind after its record was
 * removed, so that is a note.
 *
 * Of the data that grows with the log, it keeps only the API keys, and 16 bytes of each pet. So it finds an id that was
 * used twice only if fewer than {@linkcode IDS_KEPT} events lie between, and an Idempotency-Key that was used twice
 * within its day only if fewer than {@linkcode IDEMPOTENCY_KEYS_KEPT} other uses do.
 */
export class LogVerifier {
  /** The head that must follow the verified lines, if all are sound. No replay has changed it. */
  head = draftOf(EMPTY_HEAD);
  /** Of the line that is verified. */
  #faults: LineFault[] = [];
  #notes: Note[] = [];
  /** `undefined` after missing lines. */
  #lastHash: string | undefined = EMPTY_HEAD.lastHash;
  /** `undefined` after lines that are missing or could not be read. */
  #lastPetId: number | undefined = 0;
  /** Whether every line so far could be read. Only then was an unknown key not issued, and an unknown pet not added. */
  #isComplete = true;
  #keys = new Map<string, ApiKey>();
  #tokenHashes = new Set<string>();
  /** All pets, except those that a line that could not be read may have changed. */
  readonly pets = new PetStates();
  /** The positions of recent ids, and the position and the time of recent uses of Idempotency-Keys. */
  #ids = new RecentUses<number>(IDS_KEPT);
  #idempotencyUses = new RecentUses<{ position: number; timeMs: number }>(IDEMPOTENCY_KEYS_KEPT);
  /** Whether a line so far names a predecessor. Lines before format 6 do not. */
  #namesPredecessors = false;
  #latestTime = "";

  /** The latest time of a verified event, in milliseconds since the Unix epoch. */
  get latestMs(): number {
    return this.#latestTime === "" ? -Infinity : Date.parse(this.#latestTime);
  }

  /** Position of the last verified line. */
  get position(): number {
    return this.head.position;
  }

  /** Verifies the next line. `event` is `undefined` if it could not be decoded. `notes` are not faults. */
  verify(line: Uint8Array) {
    this.#faults = [];
    this.#notes = [];
    const read = readEvent(line);
    const isMalformed = read instanceof MalformedEventError;
    const isNewer = read instanceof NewerVersionError;
    const hasPosition = !isMalformed || isNewer;
    const position = hasPosition ? read.position : this.position + 1;
    if (isMalformed) this.#addFault(read.message, isNewer ? "newer" : "other");
    if (hasPosition) this.#checkPosition(read);
    if (isMalformed) this.#lose();
    else this.#checkBody({ event: read, line });
    const hash = sha256Hex(line);
    this.#lastHash = hash;
    if (isMalformed) this.head = { ...this.head, position, lastHash: hash };
    else addEvent(this.head, read, hash);
    const event = isMalformed ? undefined : read;
    return { event, faults: this.#faults, notes: this.#notes };
  }

  /** Verifies the next line. Throws `UnsoundError` if it has a fault, with `advice` at the end. */
  expectSound(line: Uint8Array, advice = ""): RecordedLine {
    const number = this.position + 1;
    const { event, faults } = this.verify(line);
    if (event !== undefined && faults.length === 0) return { event, line };
    throw new UnsoundError(`Line ${number}: ${messageOf(faults)}${advice}`);
  }

  /** Continues after a position. The lines up to there cannot be read. */
  skipTo(position: number): void {
    this.#lose();
    this.head = { ...this.head, position, lastHash: EMPTY_HEAD.lastHash };
  }

  /** Checks that the line is at the next position, and follows the line before. */
  #checkPosition({ position, previousHash }: RecordedEvent | NewerVersionError): void {
    const expected = this.position + 1;
    if (position !== expected) {
      this.#addFault(`its sequence says position ${position}, but ${expected} was expected`);
      this.#lose();
    } else if (this.#lastHash !== undefined && previousHash !== this.#lastHash) {
      this.#addFault(
        "its previoushash is not the SHA-256 of the line before, so one of the two was altered",
        "unlinked",
      );
    }
  }

  #checkBody({ event, line }: RecordedLine): void {
    const { id, position } = event;
    if (this.#ids.add(id, position) !== undefined) {
      this.#addFault(`its id ${id} is that of an earlier event`);
    }
    // All times have the same format, so they sort as text, which avoids parsing them.
    if (event.time > this.#latestTime) this.#latestTime = event.time;
    this.#checkPredecessor(event);
    switch (event.type) {
      case "PetCreated":
        this.#checkPetId(event.data.id);
        return this.#checkPetEvent(event, line);
      case "PetUpdated":
        this.#checkPrevious(event);
        return this.#checkPetEvent(event, line);
      case "PetRemoved":
        this.#checkBefore("removes", event.data.id, petTextOf({ event, line }));
        return this.#checkPetEvent(event, line);
      case "ApiKeyIssued":
        return this.#checkIssue(event);
      case "ApiKeyRevoked":
        return this.#checkRevocation(event);
      default:
        return assertNever(event);
    }
  }

  /** Checks that the line names the last event of its subject, if that event is known. */
  #checkPredecessor(event: RecordedEvent): void {
    const { predecessor } = event;
    if (predecessor !== undefined) this.#namesPredecessors = true;
    const last = this.#lastPositionOf(event);
    if (last === undefined || predecessor === last) return;
    if (predecessor === undefined && (last === 0 || !this.#namesPredecessors)) return;
    const named = predecessor === undefined ? "names no predecessor" : `names ${predecessor}`;
    const right = last === 0 ? "had no event before" : `had its last event at position ${last}`;
    this.#addFault(`it ${named}, but its subject ${subjectOf(event)} ${right}`);
  }

  /** Position of the last event of the same subject before this one; 0 without one, `undefined` if that is not known. */
  #lastPositionOf(event: RecordedEvent): number | undefined {
    // The other checks report an event after a removal.
    if (isPetEvent(event) && this.pets.isRemoved(event.data.id)) return undefined;
    const last = isPetEvent(event)
      ? this.pets.lastPositionOf(event.data.id)
      : this.#keys.get(event.data.keyId)?.position ?? 0;
    return last === 0 && !this.#isComplete ? undefined : last;
  }

  #checkPetId(id: number): void {
    const expected = this.#lastPetId === undefined ? id : this.#lastPetId + 1;
    if (id !== expected) this.#addFault(`it adds pet ${id}, but pet ${expected} was expected`);
    this.#lastPetId = id;
  }

  /** Checks that the pet is there after the lines so far, with that text. */
  #checkBefore(does: "changes" | "removes", id: number, before: Uint8Array): void {
    if (this.pets.isRemoved(id)) {
      this.#addFault(`it ${does} pet ${id}, which was removed before`);
      return;
    }
    if (this.pets.lastPositionOf(id) === 0) {
      if (this.#isComplete) this.#addFault(`it ${does} pet ${id}, which was not added before`);
      return;
    }
    if (this.pets.hasText(id, before)) return;
    const member = does === "changes" ? "previous" : "data";
    this.#addFault(`its ${member} does not match pet ${id} as it was before`);
  }

  /** Checks that the pet was before as the change says, and differs from it now in each former value. */
  #checkPrevious({ data: pet }: EventOf<"PetUpdated">): void {
    const { id, previous } = pet;
    const before = patchPet(pet, previous);
    this.#checkBefore("changes", id, encoder.encode(encodePet(before)));
    const unchanged = (Object.keys(previous) as (keyof Pet)[])
      .filter((name) => before[name] === pet[name]);
    if (unchanged.length > 0) {
      this.#addFault(`its previous names ${unchanged.join(", ")}, but did not change it`);
    }
  }

  #checkPetEvent(event: PetEvent, line: Uint8Array): void {
    const { position, data } = event;
    // Larger ids are a fault in a complete log, and could take much memory.
    const isPossible = !this.#isComplete || data.id <= position;
    if (isPossible && event.type === "PetRemoved") this.pets.setRemoved(data.id, position);
    else if (isPossible) this.pets.setPresent(data.id, petTextOf({ event, line }), position);
    this.#checkPetActor(event);
  }

  /** Checks that the actor is a key that was issued before, and was not revoked or expired at the time. */
  #checkPetActor(event: RecordedEvent): void {
    const { actor, time } = event;
    const key = this.#keys.get(actor);
    if (key === undefined) {
      if (actor === OPERATOR) {
        this.#addFault(
          "its actor is the operator, but only a key adds, changes and removes pets",
        );
      } else if (this.#isComplete) {
        this.#addFault(`its actor ${actor} is not a key that was issued before`);
      }
      return;
    }
    const timeMs = Date.parse(time);
    const { revokedAt = Infinity, expiresAt = Infinity } = key;
    if (key.isReadOnly) this.#addFault(`its actor ${actor} may only read`);
    if (key.isRevoked) this.#addFault(`its actor ${actor} was revoked before`);
    else if (timeMs >= revokedAt) {
      const effective = new Date(revokedAt).toISOString();
      this.#addFault(`its actor ${actor} was revoked with effect from ${effective}`);
    } else if (timeMs >= expiresAt) {
      this.#addFault(`its actor ${actor} expired at ${new Date(expiresAt).toISOString()}`);
    }
    this.#noteRepeatedUse(event, timeMs);
  }

  #noteRepeatedUse({ actor, idempotencyKey, position }: RecordedEvent, timeMs: number): void {
    if (idempotencyKey === undefined) return;
    const last = this.#idempotencyUses.add(actor + idempotencyKey, { position, timeMs });
    if (last === undefined) return;
    if (timeMs >= last.timeMs + IDEMPOTENCY_LIFETIME_MS - USE_TOLERANCE_MS) return;
    this.#notes.push({
      kind: "idempotency_key_repeated",
      positions: [last.position, position],
      message: `Event ${position} has the Idempotency-Key of event ${last.position}, ` +
        "less than a day after it",
    });
  }

  #checkIssue(event: EventOf<"ApiKeyIssued">): void {
    this.#checkOperator(event);
    const { data: { keyId, tokenHash }, id, time } = event;
    if (keyId !== id) this.#addFault(`its keyId ${keyId} is not its id ${id}`);
    if (this.#keys.has(keyId) || this.#tokenHashes.has(tokenHash)) {
      this.#addFault(`key ${keyId} or its token was issued before`);
    }
    this.#keys.set(keyId, issuedKey(event.data, time, event.position));
    this.#tokenHashes.add(tokenHash);
  }

  #checkRevocation(event: EventOf<"ApiKeyRevoked">): void {
    this.#checkOperator(event);
    const { keyId, tokenHash } = event.data;
    const key = this.#keys.get(keyId);
    if (key === undefined) {
      if (this.#isComplete) {
        this.#addFault(`it revokes key ${keyId}, which was not issued before`);
      }
      return;
    }
    if (key.tokenHash !== tokenHash) {
      this.#addFault(`it revokes key ${keyId} under a token hash that is not the key's`);
    }
    const revocation = revocationOf(event);
    const { revokedAt: earlier = Infinity } = key;
    const isLater = !revocation.isAtOnce && Date.parse(revocation.revokedAt) > earlier;
    // The service never wrote this, but no line before format 6 was refused for it.
    if (isLater && event.predecessor !== undefined) {
      this.#addFault(`it revokes key ${keyId} at a later time than an event before`);
    }
    revoke(key, revocation);
    key.position = event.position;
  }

  #checkOperator({ actor }: RecordedEvent): void {
    if (actor === OPERATOR) return;
    this.#addFault(`its actor is key ${actor}, but only the operator issues and revokes keys`);
  }

  #addFault(message: string, kind: LineFault["kind"] = "other"): void {
    this.#faults.push({ kind, message });
  }

  #lose(): void {
    this.#lastHash = undefined;
    this.#lastPetId = undefined;
    this.#isComplete = false;
    this.pets.clear();
  }
}

/** The messages of all faults of a line, to follow "Line 7: ". */
export function messageOf(faults: readonly LineFault[]): string {
  return faults.map(({ message }) => message).join("; ");
}

type EventOf<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

/** The last use of each name. Remembers at least as many uses as its limit, and at most twice as many. */
export class RecentUses<Use> {
  #limit: number;
  #recent = new Map<string, Use>();
  #earlier = new Map<string, Use>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a use, and returns the previous use of the name. Names do not differ in case alone. */
  add(name: string, use: Use): Use | undefined {
    if (this.#recent.size >= this.#limit) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    // In lower case it is a new text: a part of a line's text would keep all of it in memory.
    const key = name.toLowerCase();
    const previous = this.#recent.get(key) ?? this.#earlier.get(key);
    this.#recent.set(key, use);
    return previous;
  }
}
