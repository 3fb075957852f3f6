/** Erases personal data in an export: replaces the texts of subjects, and chains the lines after them again. */

import type { Head, RecordedEvent } from "eventstore-less/definitions";
import { ERASED } from "../../events/erased.ts";
import { joinLines } from "../../src/encoding/pack_lines.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import {
  COLLECTIONS,
  encodeEvent,
  eventOf,
  EVENTS,
  GENESIS_HASH,
  splitLines,
  subjectOf,
} from "eventstore-less/log";
import { changedError, type Export } from "./restore.ts";

const PERSONAL = new Map(COLLECTIONS.map(({ name, personal = [] }) => [name, personal]));

/**
 * Yields an export, which was verified with that head, without the personal data of the subjects. All but these texts
 * and the hashes stays. Calls `onReplaced` with each event that had such a text. Rejects with `RefusedError` if it is
 * not the export that was verified.
 */
export async function* redacted(
  source: Export,
  { lastHash }: Pick<Head, "lastHash">,
  subjects: readonly string[],
  onReplaced: (event: RecordedEvent) => void = () => {},
): AsyncGenerator<Uint8Array> {
  const replacements = new Map(subjects.map((subject) => [subject, new Replacements()]));
  const encoder = new TextEncoder();
  let previousHash = GENESIS_HASH;
  let newHash = GENESIS_HASH;
  for await (const lines of splitLines(source())) {
    const newLines: Uint8Array[] = [];
    for (const line of lines) {
      const event = eventOf(line);
      // The new hashes would hide that.
      if (event?.previousHash !== previousHash) throw changedError();
      const next = redactEvent(event, replacements.get(subjectOf(event)));
      if (next !== event) onReplaced(event);
      const newLine = encoder.encode(encodeEvent({ ...next, previousHash: newHash }));
      newLines.push(newLine);
      previousHash = sha256Hex(line);
      newHash = sha256Hex(newLine);
    }
    yield joinLines(newLines);
  }
  if (previousHash !== lastHash) throw changedError();
}

/** The same event if it has no text to replace. */
function redactEvent(event: RecordedEvent, replacements: Replacements | undefined): RecordedEvent {
  const personal = PERSONAL.get(EVENTS[event.type].collection)!;
  if (replacements === undefined) return event;
  const data = redactData(event.data, personal, replacements);
  return data === event.data ? event : { ...event, data } as RecordedEvent;
}

/** The same data if it has no text to replace. */
function redactData(data: object, personal: readonly string[], replacements: Replacements): object {
  const members = Object.entries(data).map(([name, value]): [string, unknown] => {
    if (typeof value === "object" && value !== null) {
      return [name, redactData(value, personal, replacements)];
    }
    const isPersonal = personal.includes(name) && typeof value === "string";
    return [name, isPersonal ? replacements.of(value) : value];
  });
  const before: Record<string, unknown> = { ...data };
  const isSame = members.every(([name, value]) => value === before[name]);
  return isSame ? data : Object.fromEntries(members);
}

/** The replacements of the texts of a subject. Different texts have different ones, so that a change remains one. */
class Replacements {
  #known = new Map<string, string>();

  of(text: string): string {
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const number = this.#known.size + 1;
    const replacement = number === 1 ? ERASED : `${ERASED} ${number}`;
    this.#known.set(text, replacement);
    return replacement;
  }
}
