/** Counts what a log contains, in one pass. Keeps one number for each day, and one entry for each key. */

import { assertNever } from "../../events/assert_never.ts";
import { GENESIS_HASH, OPERATOR, type RecordedEvent } from "../../events/event.ts";
import type { PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { type ApiKey, issuedKey, revocationOf, revoke } from "../../src/log/api_keys.ts";
import { eventOf } from "../../src/log/lines.ts";

/** The additions by one API key, according to the log. */
export interface KeyUse {
  id: string;
  /** Absent if the log does not contain the issue of the key. */
  key?: ApiKey;
  pets: number;
  /** Times of the first and the last pet that the key added; absent if it added none. */
  firstUse?: string;
  lastUse?: string;
}

export class LogStatistics {
  /** Number of lines, with those that cannot be read. */
  lines = 0;
  /** Number of lines that are not events that this version knows. */
  unreadable = 0;
  /** The first and the last event; absent without one. */
  first?: RecordedEvent;
  last?: RecordedEvent;
  /** Number of events of each day (UTC), for example `2026-11-20`. */
  readonly byDay = new Map<string, number>();
  /** Number of pets by status; `undefined` for pets without one. */
  readonly byStatus = new Map<PetStatus | undefined, number>();
  readonly keys = new Map<string, KeyUse>();
  #lastLine: Uint8Array | undefined;

  /** SHA-256 (hex) of the last line. */
  get hash(): string {
    return this.#lastLine === undefined ? GENESIS_HASH : sha256Hex(this.#lastLine);
  }

  /** Adds the next lines. */
  add(lines: readonly Uint8Array[]): void {
    for (const line of lines) {
      this.lines++;
      const event = eventOf(line);
      if (event === undefined) this.unreadable++;
      else this.#addEvent(event);
    }
    // A copy, because the lines of a batch share memory.
    if (lines.length > 0) this.#lastLine = lines.at(-1)!.slice();
  }

  #addEvent(event: RecordedEvent): void {
    const { time, type } = event;
    this.first ??= event;
    this.last = event;
    increment(this.byDay, time.slice(0, 10));
    switch (type) {
      case "PetCreated": {
        increment(this.byStatus, event.data.status);
        if (event.actor === OPERATOR) return;
        const use = this.#useOf(event.actor);
        use.pets++;
        use.firstUse ??= time;
        use.lastUse = time;
        return;
      }
      case "ApiKeyIssued": {
        this.#useOf(event.data.keyId).key = issuedKey(event.data, time);
        return;
      }
      case "ApiKeyRevoked": {
        const { key } = this.#useOf(event.data.keyId);
        if (key !== undefined) revoke(key, revocationOf(event));
        return;
      }
      default:
        return assertNever(event);
    }
  }

  #useOf(id: string): KeyUse {
    let use = this.keys.get(id);
    if (use === undefined) this.keys.set(id, use = { id, pets: 0 });
    return use;
  }
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
