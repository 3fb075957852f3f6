/** Checks the lines of the log in order, from the first one. An audit and a restore both use it. */

import { assertNever } from "../../events/assert_never.ts";
import {
  decodeEvent,
  MalformedEventError,
  NewerVersionError,
  OPERATOR,
  type RecordedEvent,
} from "../../events/event.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "./idempotency_lifetime.ts";
import { LINE_FEED } from "../encoding/pack_lines.ts";
import { parseTimestamp } from "../encoding/parse_timestamp.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { VALUE_BYTES_LIMIT } from "../store/store.ts";
import { EMPTY_HEAD, type Head } from "./head.ts";
import { RecentIds } from "./recent_ids.ts";
import { CLOCK_TOLERANCE_MS, IdempotencyUses } from "./idempotency_uses.ts";

/** Longest line, in bytes: a line and its line feed fit into a value of the store. */
export const LINE_LIMIT_BYTES = VALUE_BYTES_LIMIT - 1;

/** The result for one line. */
export interface VerifiedLine {
  /** The event of the line; `undefined` if the line could not be decoded. */
  event: RecordedEvent | undefined;
  /** The faults, worded to follow "Line 7: "; empty if the line is sound. */
  faults: string[];
  /** Whether a newer version wrote the line, which is one of the faults. */
  isNewer?: true;
  /** Whether `previoushash` is the hash of the line before; absent if this cannot be determined. */
  isLinked?: boolean;
}

/** The state of an API key according to the log. Times are milliseconds since the Unix epoch. */
interface IssuedKey {
  /** Sequence number of the key, from 1. */
  number: number;
  tokenHash: string;
  expiresAt: number;
  isReadOnly: boolean;
  /** The time from which a rotation refuses the key; the earliest one applies. */
  refusedFrom: number;
  /** Whether the key was revoked at once. Then the position in the log decides, not the time. */
  isRevoked: boolean;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const NOTHING = new Uint8Array(0);

/**
 * Verifies one line after the other and reports the faults of each. After a fault, it continues from the
 * content of the line itself, so that one fault is not reported again for every later line.
 *
 * Of the data that grows with the log, it keeps only the API keys. So it finds a reused id only if
 * {@linkcode RecentIds} still has it. An append that was repeated by mistake is found this way.
 *
 * A history that the service cannot have written is a fault even if all hashes match. One example is an
 * Idempotency-Key used twice within its day. This is a fault if {@linkcode IdempotencyUses} still has
 * the first use, and no clock was set back between the two: a wrong clock makes the store remove the
 * record of the first use too early.
 */
export class LogVerifier {
  #position = 0;
  #keyPosition = 0;
  /** This and `#lastPetId` are `undefined` after a line that is missing or could not be read. */
  #lastHash: string | undefined = EMPTY_HEAD.lastHash;
  #lastPetId: number | undefined = 0;
  /** Whether every line so far could be read. Only then is an unknown key one that was not issued. */
  #keysKnown = true;
  #keys = new Map<string, IssuedKey>();
  #tokenHashes = new Set<string>();
  #ids = new RecentIds();
  #idempotencyUses = new IdempotencyUses();
  #lastTime = "";
  /** Position of the last event whose time precedes the one before by over {@linkcode CLOCK_TOLERANCE_MS}. */
  #clockSetBackAt = 0;

  /** Position of the last verified line. */
  get position(): number {
    return this.#position;
  }

  /** Whether every line up to the position could be read. Only then does the head follow from them. */
  get isComplete(): boolean {
    return this.#keysKnown;
  }

  /** The head that must follow the verified lines, if all are sound. It has no replay in progress. */
  get head(): Head {
    return {
      ...EMPTY_HEAD,
      position: this.#position,
      lastPetId: this.#lastPetId ?? 0,
      lastHash: this.#lastHash ?? EMPTY_HEAD.lastHash,
      keyPosition: this.#keyPosition,
    };
  }

  /**
   * Verifies the next line. `storedPosition` is the position in its key; the lines of a file have none. `text`
   * is the text of the line, if {@linkcode textsOf} has decoded it.
   */
  verify(line: unknown, storedPosition?: number, text?: string): VerifiedLine {
    const faults: string[] = [];
    const expectedPosition = this.#position + 1;
    if (storedPosition !== undefined && storedPosition !== expectedPosition) {
      faults.push(
        storedPosition > expectedPosition
          ? `${positions(expectedPosition, storedPosition - 1)} missing`
          : `position ${expectedPosition} was expected`,
      );
      this.#lose();
    }
    const read = this.#read(line, text, faults);
    const event = read instanceof NewerVersionError ? undefined : read;
    const lastHash = this.#lastHash;
    if (read === undefined) {
      this.#lose();
      this.#position = storedPosition ?? expectedPosition;
    } else {
      this.#checkPosition(read, storedPosition ?? expectedPosition, faults);
      if (event === undefined) this.#lose();
      else this.#checkBody(event, faults);
      this.#position = storedPosition ?? read.position;
    }
    if (line instanceof Uint8Array) this.#lastHash = sha256Hex(line);
    const isNewer = read instanceof NewerVersionError;
    const verified = { event, faults, ...(isNewer ? { isNewer } : {}) };
    if (read === undefined || lastHash === undefined) return verified;
    return { ...verified, isLinked: read.previousHash === lastHash };
  }

  /** Begins after the first lines of a log, of which the last has that position and hash. */
  startAfter(position: number, hash: string): void {
    this.skipTo(position);
    this.#lastHash = hash;
  }

  /** Continues after a position. The lines up to there cannot be read. */
  skipTo(position: number): void {
    this.#lose();
    this.#position = position;
  }

  #read(
    line: unknown,
    text: string | undefined,
    faults: string[],
  ): RecordedEvent | NewerVersionError | undefined {
    try {
      return decodeLine(line, text);
    } catch (error) {
      if (!(error instanceof MalformedEventError)) throw error;
      faults.push(error.message);
      if (error instanceof NewerVersionError) return error;
    }
  }

  #checkPosition(
    { position, previousHash }: RecordedEvent | NewerVersionError,
    expectedPosition: number,
    faults: string[],
  ): void {
    if (position !== expectedPosition) {
      faults.push(`its sequence says position ${position}, but ${expectedPosition} was expected`);
      this.#lose();
    } else if (this.#lastHash !== undefined && previousHash !== this.#lastHash) {
      faults.push("its previoushash is not the SHA-256 of the line before");
    }
  }

  #checkBody(event: RecordedEvent, faults: string[]): void {
    const { id } = event;
    if (this.#ids.isUsed(id)) faults.push(`its id ${id} is that of an earlier event`);
    this.#watchClock(event);
    switch (event.type) {
      case "PetCreated":
        this.#checkPetId(event.data.id, faults);
        return this.#checkPetActor(event, faults);
      case "ApiKeyIssued":
        this.#keyPosition = event.position;
        expectOperator(event, faults);
        return this.#checkIssue(event, faults);
      case "ApiKeyRevoked":
        this.#keyPosition = event.position;
        expectOperator(event, faults);
        return this.#checkRevocation(event, faults);
      default:
        return assertNever(event);
    }
  }

  #checkPetId(id: number, faults: string[]): void {
    const expectedId = this.#lastPetId === undefined ? id : this.#lastPetId + 1;
    if (id !== expectedId) faults.push(`it adds pet ${id}, but pet ${expectedId} was expected`);
    this.#lastPetId = id;
  }

  #watchClock({ time, position }: RecordedEvent): void {
    // All times have the same format, so they sort as text, which usually avoids parsing them.
    if (time < this.#lastTime) {
      const setBackMs = Date.parse(this.#lastTime) - Date.parse(time);
      if (setBackMs > CLOCK_TOLERANCE_MS) this.#clockSetBackAt = position;
    }
    this.#lastTime = time;
  }

  /** Checks that the actor is a key that was issued before, and was not revoked or expired at the time. */
  #checkPetActor({ actor, time, position, idempotencyKey }: RecordedEvent, faults: string[]): void {
    const key = this.#keys.get(actor);
    if (key === undefined) {
      if (actor === OPERATOR) faults.push("its actor is the operator, but only a key adds pets");
      else if (this.#keysKnown) {
        faults.push(`its actor ${actor} is not a key that was issued before`);
      }
      return;
    }
    if (key.isReadOnly) faults.push(`its actor ${actor} may only read`);
    if (key.isRevoked) faults.push(`its actor ${actor} was revoked before`);
    else if (isReached(key.refusedFrom, time)) {
      faults.push(`its actor ${actor} was revoked with effect from ${textOf(key.refusedFrom)}`);
    } else if (isReached(key.expiresAt, time)) {
      faults.push(`its actor ${actor} expired at ${textOf(key.expiresAt)}`);
    }
    if (idempotencyKey === undefined) return;
    const timeMs = parseTimestamp(time);
    const last = this.#idempotencyUses.add(key.number, idempotencyKey, { position, timeMs });
    if (last === undefined || this.#clockSetBackAt > last.position) return;
    const ageMs = timeMs - last.timeMs;
    // Earlier versions looked the key up a moment after the time of the event.
    if (ageMs >= 0 && ageMs < IDEMPOTENCY_LIFETIME_MS - CLOCK_TOLERANCE_MS) {
      faults.push(
        `its Idempotency-Key was used at position ${last.position}, less than a day before`,
      );
    }
  }

  #checkIssue({ data, id }: EventOf<"ApiKeyIssued">, faults: string[]): void {
    const { keyId, tokenHash } = data;
    if (keyId !== id) faults.push(`its keyId ${keyId} is not its id ${id}`);
    if (this.#keys.has(keyId) || this.#tokenHashes.has(tokenHash)) {
      faults.push(`key ${keyId} or its token was issued before`);
    }
    this.#keys.set(keyId, {
      number: this.#keys.size + 1,
      tokenHash,
      expiresAt: data.expiresAt === undefined ? Infinity : Date.parse(data.expiresAt),
      isReadOnly: data.readOnly ?? false,
      refusedFrom: Infinity,
      isRevoked: false,
    });
    this.#tokenHashes.add(tokenHash);
  }

  #checkRevocation({ data, time }: EventOf<"ApiKeyRevoked">, faults: string[]): void {
    const { keyId, tokenHash } = data;
    const key = this.#keys.get(keyId);
    if (key === undefined) {
      if (this.#keysKnown) faults.push(`it revokes key ${keyId}, which was not issued before`);
      return;
    }
    if (key.tokenHash !== tokenHash) {
      faults.push(`it revokes key ${keyId} under a token hash that is not the key's`);
    }
    const effectiveAt = Date.parse(data.effectiveAt);
    if (effectiveAt <= Date.parse(time)) key.isRevoked = true;
    else key.refusedFrom = Math.min(key.refusedFrom, effectiveAt);
  }

  #lose(): void {
    this.#lastHash = undefined;
    this.#lastPetId = undefined;
    this.#keysKnown = false;
  }
}

type EventOf<Type extends RecordedEvent["type"]> = Extract<RecordedEvent, { type: Type }>;

function expectOperator({ actor }: RecordedEvent, faults: string[]): void {
  if (actor === OPERATOR) return;
  faults.push(`its actor is key ${actor}, but only the operator issues and revokes keys`);
}

function isReached(instant: number, time: string): boolean {
  return instant !== Infinity && parseTimestamp(time) >= instant;
}

function textOf(instant: number): string {
  return new Date(instant).toISOString();
}

/** Decodes the event of a stored line. `text` is its text, if it was decoded before. Throws `MalformedEventError`. */
export function decodeLine(line: unknown, text = decodeUtf8(line)): RecordedEvent {
  return decodeEvent(text);
}

function decodeUtf8(line: unknown): string {
  if (!(line instanceof Uint8Array)) {
    throw new MalformedEventError("The stored value is not bytes");
  }
  if (line.length > LINE_LIMIT_BYTES) {
    throw new MalformedEventError(`The line is longer than ${LINE_LIMIT_BYTES} bytes`);
  }
  try {
    return decoder.decode(line);
  } catch {
    throw new MalformedEventError("The line is not valid UTF-8");
  }
}

/**
 * The texts of lines, or `undefined` for a line that must be decoded alone. Adjacent lines of one buffer are
 * decoded in one call if all are ASCII, because a call for each line is slower.
 */
export function textsOf(lines: readonly Uint8Array[]): (string | undefined)[] {
  const texts: (string | undefined)[] = [];
  while (texts.length < lines.length) {
    const first = texts.length;
    let last = first;
    while (last + 1 < lines.length && isNext(lines[last], lines[last + 1])) last++;
    const { buffer, byteOffset } = lines[first];
    const length = lines[last].byteOffset + lines[last].length - byteOffset;
    const text = decodeAscii(new Uint8Array(buffer, byteOffset, length));
    for (const line of lines.slice(first, last + 1)) {
      const start = line.byteOffset - byteOffset;
      const isShort = line.length <= LINE_LIMIT_BYTES;
      texts.push(isShort ? text?.slice(start, start + line.length) : undefined);
    }
  }
  return texts;
}

/** Whether only a line feed separates two lines. */
function isNext(one: Uint8Array, other: Uint8Array): boolean {
  return other.buffer === one.buffer && other.byteOffset === one.byteOffset + one.length + 1;
}

function decodeAscii(bytes: Uint8Array): string | undefined {
  try {
    const text = decoder.decode(bytes);
    // Any other character takes more bytes than UTF-16 code units.
    return text.length === bytes.length ? text : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Splits a stream into lines, without their line feeds. Yields the lines of a chunk together. A line over
 * {@linkcode LINE_LIMIT_BYTES} is cut to one byte more than that, so that it still counts as too long. The last
 * line needs no line feed.
 */
export async function* splitLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let open = NOTHING;
  for await (const chunk of stream) {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(LINE_FEED, start);
      if (end === -1) break;
      const rest = chunk.subarray(start, Math.min(end, start + LINE_LIMIT_BYTES + 1));
      lines.push(open.length === 0 ? rest : joined(open, rest));
      open = NOTHING;
      start = end + 1;
    }
    open = joined(open, chunk.subarray(start));
    if (lines.length > 0) yield lines;
  }
  if (open.length > 0) yield [open];
}

/** Copies both parts into a new array, cut to one byte more than {@linkcode LINE_LIMIT_BYTES}. */
function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(Math.min(one.length + other.length, LINE_LIMIT_BYTES + 1));
  bytes.set(one.subarray(0, bytes.length));
  bytes.set(other.subarray(0, bytes.length - one.length), one.length);
  return bytes;
}

function positions(from: number, to: number): string {
  return from === to ? `position ${from} is` : `positions ${from} to ${to} are`;
}
