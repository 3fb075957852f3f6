/** Erases personal data in an export: replaces the texts of subjects, and chains the lines after them again. */

import type { Head } from "../../definitions.ts";
import { joinLines } from "../../encoding/pack_lines.ts";
import { sha256Hex } from "../../encoding/sha256.ts";
import { encodeEvent, GENESIS_HASH, subjectOf } from "../../log/event.ts";
import { eventOf, splitLines } from "../../log/lines.ts";
import type { RecordedEvent } from "../../definitions.ts";
import type { Application } from "../../application.ts";
import { ERASED } from "../../log/erased.ts";
import type { Export } from "../tool_store.ts";
import { changedError } from "./verify_export.ts";

function personalOf({ collections, events }: Application, { type }: RecordedEvent) {
  const { collection } = events[type];
  return collections.find(({ name }) => name === collection)!.personal ?? [];
}

/**
 * Yields an export, which was verified with that head, without the personal data of the subjects. All but these texts
 * and the hashes stays. Calls `onReplaced` with each event that had such a text. Rejects with `RefusedError` if it is
 * not the export that was verified.
 */
export async function* redacted(
  application: Application,
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
      const event = eventOf(application, line);
      // The new hashes would hide that.
      if (event?.previousHash !== previousHash) throw changedError();
      const next = redactEvent(application, event, replacements.get(subjectOf(application, event)));
      if (next !== event) onReplaced(event);
      const newLine = encoder.encode(encodeEvent(application, { ...next, previousHash: newHash }));
      newLines.push(newLine);
      previousHash = sha256Hex(line);
      newHash = sha256Hex(newLine);
    }
    yield joinLines(newLines);
  }
  if (previousHash !== lastHash) throw changedError();
}

/** The same event if it has no text to replace. */
function redactEvent(
  application: Application,
  event: RecordedEvent,
  replacements: Replacements | undefined,
): RecordedEvent {
  const personal = personalOf(application, event);
  if (replacements === undefined) return event;
  const data = redactData(event.data, personal, replacements);
  return data === event.data ? event : { ...event, data } as RecordedEvent;
}

/** The same data if it has no text to replace. */
function redactData(data: object, personal: readonly string[], replacements: Replacements): object {
  const members = Object.entries(data).map(([name, value]): [string, unknown] => {
    return [name, redactValue(name, value, personal, replacements)];
  });
  const before: Record<string, unknown> = { ...data };
  const isSame = members.every(([name, value]) => value === before[name]);
  return isSame ? data : Object.fromEntries(members);
}

/** The value of a member of that name, or of an element of its list; the same one if it has no text to replace. */
function redactValue(
  name: string,
  value: unknown,
  personal: readonly string[],
  replacements: Replacements,
): unknown {
  if (typeof value === "string") return personal.includes(name) ? replacements.of(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (!Array.isArray(value)) return redactData(value, personal, replacements);
  const elements = value.map((element) => redactValue(name, element, personal, replacements));
  return elements.every((element, index) => element === value[index]) ? value : elements;
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
