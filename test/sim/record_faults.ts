/** Compares the records of a store with its log, by a second implementation of project(). */

import type { Key } from "../../src/store/store.ts";
import type { CommittedLine } from "./oracle.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The lists of a generation that a pet may be in. */
export const PET_LISTS = ["available", "none", "pending", "sold"];

interface StoredRecord {
  key: Key;
  value: unknown;
}

/** When the Idempotency-Key of an event expires, in milliseconds since the Unix epoch. */
export function idempotencyKeyExpiresAt({ event }: CommittedLine): number {
  return Date.parse(event.time) + DAY_MS;
}

/**
 * Says what is wrong with the records of a generation that lines have made. Their keys come without the generation.
 * There must be one record for each content, except what may have expired.
 */
export function recordFaults(
  records: Iterable<StoredRecord>,
  lines: readonly CommittedLine[],
  mayHaveExpired: boolean,
): string[] {
  const contents = [...records].map(({ key, value }) => contentAt(key, textOf(value)));
  return contentFaults(contents, expectedRecords(lines), mayHaveExpired);
}

/** The same for the records of the log, which hold each line once, in any grouping. */
export function logFaults(
  records: Iterable<StoredRecord>,
  lines: readonly CommittedLine[],
): string[] {
  const faults: string[] = [];
  const contents = [...records].flatMap(({ key, value }) => {
    const packed = linesOf(value).map((line) => ({ line, position: positionOf(line) }));
    const isAscending = packed.every(({ position }, at) =>
      at === 0 || position > packed[at - 1].position
    );
    if (!isAscending || packed.at(-1)?.position !== key.at(-1)) {
      faults.push(`the lines of ${JSON.stringify(key)} do not ascend to its position`);
    }
    return packed.map(({ line, position }) => contentAt(["~log", position], line));
  });
  const expected = lines.map(({ position, text }) => contentAt(["~log", position], text));
  return [...faults, ...contentFaults(contents, new Map(expected), false)];
}

function contentFaults(
  contents: readonly Content[],
  expected: Map<string, string>,
  mayHaveExpired: boolean,
): string[] {
  const faults: string[] = [];
  for (const [name, text] of contents) {
    if (expected.get(name) !== text) faults.push(`${name} holds ${shortened(text)}`);
    expected.delete(name);
  }
  for (const name of expected.keys()) {
    const isExpiring = name.startsWith('["event_by_idempotency_key"');
    if (!(mayHaveExpired && isExpiring)) faults.push(`${name} is missing`);
  }
  return faults;
}

type Content = [name: string, text: string];

function expectedRecords(lines: readonly CommittedLine[]): Map<string, string> {
  const expected = new Map<string, string>();
  /** The record of each pet. */
  const names = new Map<number, string>();
  const add = (key: Key, text: string) => {
    const [name] = contentAt(key, text);
    expected.set(name, text);
    return name;
  };
  for (const line of lines) {
    const { event: { type, data, time, actor, idempotencykey }, position, petText = "" } = line;
    if (idempotencykey !== undefined) {
      const expiresAt = new Date(idempotencyKeyExpiresAt(line)).toISOString();
      const key = ["event_by_idempotency_key", actor, idempotencykey, position];
      add(key, JSON.stringify({ expiresAt }));
    }
    switch (type) {
      case "PetCreated":
      case "PetUpdated": {
        const { id, status = "none" } = data;
        expected.delete(names.get(id) ?? "");
        names.set(id, add(["pet", status, id], petText));
        break;
      }
      case "ApiKeyIssued": {
        const { keyId, label, expiresAt, readOnly, tokenHash } = data;
        const text = JSON.stringify({ keyId, label, issuedAt: time, expiresAt, readOnly });
        add(["key_by_token", tokenHash, position], text);
        break;
      }
      case "ApiKeyRevoked": {
        const { keyId, tokenHash, effectiveAt } = data;
        const isAtOnce = Date.parse(effectiveAt) <= Date.parse(time);
        const text = JSON.stringify({ keyId, revokedAt: effectiveAt, isAtOnce });
        add(["key_by_token", tokenHash, position], text);
        break;
      }
      default:
        throw new Error(`The oracle does not know events of type ${type}`);
    }
  }
  return expected;
}

function contentAt(key: Key, text: string): Content {
  return [JSON.stringify(key), text];
}

/** The text of a value; what no record holds if the value is not one of bytes. */
export function textOf(value: unknown): string {
  return value instanceof Uint8Array ? decoder.decode(value) : "not bytes";
}

/** The lines of a value, in which a line feed follows each line; none if it is anything else. */
export function linesOf(value: unknown): string[] {
  const lines = textOf(value).split("\n");
  return lines.pop() === "" && !lines.includes("") ? lines : [];
}

function positionOf(line: string): number {
  return Number(JSON.parse(line).sequence);
}

/** A text short enough for a message. */
export function shortened(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
