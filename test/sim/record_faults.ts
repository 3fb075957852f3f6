/** Compares the records of a store with its log, by a second implementation of project(). */

import type { Key } from "../../src/store/store.ts";
import type { CommittedLine } from "./oracle.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** When the Idempotency-Key of a pet's event expires, in milliseconds since the Unix epoch. */
export function idempotencyKeyExpiresAt({ event }: CommittedLine): number {
  return Date.parse(event.time) + DAY_MS;
}

/**
 * Says what is wrong with the records of a generation that lines have made. Their keys come without the generation.
 * Every content must be stored exactly once, in any grouping, except what may have expired.
 */
export function recordFaults(
  records: Iterable<{ key: Key; value: unknown }>,
  lines: readonly CommittedLine[],
  mayHaveExpired: boolean,
): string[] {
  const expected = lines.flatMap(contentOf);
  return contentFaults(records, mayHaveExpired, new Map(expected));
}

/** The same for the records of the log. */
export function logFaults(
  records: Iterable<{ key: Key; value: unknown }>,
  lines: readonly CommittedLine[],
): string[] {
  const expected = lines.map(({ position, text }) => contentAt(["~log", position], text));
  return contentFaults(records, false, new Map(expected));
}

function contentFaults(
  records: Iterable<{ key: Key; value: unknown }>,
  mayHaveExpired: boolean,
  expected: Map<string, string>,
): string[] {
  const faults: string[] = [];
  for (const { key, value } of records) {
    const lines = linesOf(value).map((line) => ({ line, number: numberOf(line) }));
    const isAscending = lines.every(({ number }, at) => at === 0 || number > lines[at - 1].number);
    const isPacked = value instanceof Uint8Array;
    if (isPacked && !(isAscending && lines.at(-1)?.number === key.at(-1))) {
      faults.push(`the lines of ${JSON.stringify(key)} do not ascend to its number`);
    }
    const contents = isPacked
      ? lines.map(({ line, number }) => contentAt([...key.slice(0, -1), number], line))
      : [contentAt(key, String(value))];
    for (const [name, text] of contents) {
      if (expected.get(name) !== text) faults.push(`${name} holds ${shortened(text)}`);
      expected.delete(name);
    }
  }
  for (const name of expected.keys()) {
    const isExpiring = name.startsWith('["pet_by_idempotency_key"');
    if (!(mayHaveExpired && isExpiring)) faults.push(`${name} is missing`);
  }
  return faults;
}

type Content = [name: string, text: string];

function contentOf(line: CommittedLine): Content[] {
  const { event: { type, data, time, actor, idempotencykey }, position, petText = "" } = line;
  switch (type) {
    case "PetCreated": {
      const { id, status } = data;
      const contents = [contentAt(["pet", id], petText)];
      if (status !== undefined) contents.push(contentAt(["pet_by_status", status, id], petText));
      if (idempotencykey !== undefined) {
        const expiresAt = new Date(idempotencyKeyExpiresAt(line)).toISOString();
        const text = JSON.stringify({ petId: id, expiresAt });
        contents.push(
          contentAt(["pet_by_idempotency_key", actor, idempotencykey, position], text),
        );
      }
      return contents;
    }
    case "ApiKeyIssued": {
      const { keyId, label, expiresAt, readOnly, tokenHash } = data;
      const text = JSON.stringify({ keyId, label, issuedAt: time, expiresAt, readOnly });
      return [contentAt(["key_by_token", tokenHash, position], text)];
    }
    case "ApiKeyRevoked": {
      const { keyId, tokenHash, effectiveAt } = data;
      const isAtOnce = Date.parse(effectiveAt) <= Date.parse(time);
      const text = JSON.stringify({ keyId, revokedAt: effectiveAt, isAtOnce });
      return [contentAt(["key_by_token", tokenHash, position], text)];
    }
    default:
      throw new Error(`The oracle does not know events of type ${type}`);
  }
}

function contentAt(key: Key, text: string): Content {
  return [JSON.stringify(key), text];
}

/** The lines of a value, in which a line feed follows each line; none if it is anything else. */
export function linesOf(value: unknown): string[] {
  const lines = value instanceof Uint8Array ? decoder.decode(value).split("\n") : [];
  return lines.pop() === "" && !lines.includes("") ? lines : [];
}

/** The id of a pet, or the position of an event. */
function numberOf(line: string): number {
  const { sequence, id } = JSON.parse(line);
  return Number(sequence ?? id);
}

/** A text short enough for a message. */
export function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
