/** Counts what a log contains, in one pass. Keeps two numbers for each hour, and one entry for each key. */

import { assertNever } from "../../events/assert_never.ts";
import { GENESIS_HASH, OPERATOR, type RecordedEvent } from "../../events/event.ts";
import type { PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { type ApiKey, issuedKey, revocationOf, revoke } from "../../src/log/api_keys.ts";
import { eventOf } from "../../src/log/lines.ts";

/** The additions and changes of pets in a time or by a key. */
export interface Activity {
  added: number;
  changed: number;
}

/** The use of one API key, according to the log. */
export interface KeyUse extends Activity {
  id: string;
  /** Absent if the log does not contain the issue of the key. */
  key?: ApiKey;
  /** Times of the first and the last event that the key caused; absent if it caused none. */
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
  /** By hour (UTC), for example `2026-11-20T08`. Has each hour with an event. */
  readonly byHour = new Map<string, Activity>();
  /** Number of the added pets that now have a status; `undefined` for pets without one. */
  readonly byStatus = new Map<PetStatus | undefined, number>();
  readonly keys = new Map<string, KeyUse>();
  #lastLine: Uint8Array | undefined;
  /** Id of the first pet that was added. The log may be a part that lacks the additions of the pets before. */
  #firstPetId = Infinity;

  get hash(): string {
    return this.#lastLine === undefined ? GENESIS_HASH : sha256Hex(this.#lastLine);
  }

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
    const hour = this.byHour.getOrInsertComputed(
      time.slice(0, "2026-11-20T08".length),
      () => ({ added: 0, changed: 0 }),
    );
    switch (type) {
      case "PetCreated":
        this.#firstPetId = Math.min(this.#firstPetId, event.data.id);
        this.#count(event.data.status, 1);
        return this.#countUse(event, hour, "added");
      case "PetUpdated": {
        const { id, status, previous } = event.data;
        if (id >= this.#firstPetId && previous.status !== undefined) {
          this.#count(previous.status ?? undefined, -1);
          this.#count(status, 1);
        }
        return this.#countUse(event, hour, "changed");
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

  #count(status: PetStatus | undefined, pets: 1 | -1): void {
    // The addition of a pet may be in a line that could not be read.
    this.byStatus.set(status, Math.max(0, (this.byStatus.get(status) ?? 0) + pets));
  }

  #countUse({ actor, time }: RecordedEvent, hour: Activity, what: keyof Activity): void {
    hour[what]++;
    if (actor === OPERATOR) return;
    const use = this.#useOf(actor);
    use[what]++;
    use.firstUse ??= time;
    use.lastUse = time;
  }

  #useOf(id: string): KeyUse {
    return this.keys.getOrInsertComputed(id, () => ({ id, added: 0, changed: 0 }));
  }
}
