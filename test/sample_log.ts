import {
  encodeEvent,
  type EventBody,
  type EventMetadata,
  GENESIS_HASH,
  OPERATOR,
} from "../events/event.ts";
import { PET_STATUSES } from "../events/pet.ts";
import { sha256Hex } from "../src/sha256.ts";

const encoder = new TextEncoder();
const FIRST_INSTANT = Date.parse("2026-01-01T00:00:00.000Z");

/** Every so many events of the sample, a key is issued; its predecessor is revoked right after. */
const KEY_EVERY = 10;

export interface SampleOptions {
  /** When the first event happened, in milliseconds since the Unix epoch; the others follow by the second. */
  since?: number;
}

/** A sound log of that length with events of all kinds, as the service would have written it. */
export function sampleLog(length: number, { since = FIRST_INSTANT }: SampleOptions = {}): string[] {
  const events: (EventBody & EventMetadata)[] = [];
  let pets = 0;
  let key = { keyId: "", tokenHash: "" };
  let predecessor = key;
  for (let position = 1; position <= length; position++) {
    const id = sampleId(position);
    const time = new Date(since + position * 1_000).toISOString();
    let fact: EventBody;
    if (position % KEY_EVERY === 1) {
      predecessor = key;
      key = { keyId: id, tokenHash: sha256Hex(`token ${position}`) };
      fact = { type: "ApiKeyIssued", data: { ...key, label: `key ${position}` } };
    } else if (position % KEY_EVERY === 2 && predecessor.keyId !== "") {
      fact = { type: "ApiKeyRevoked", data: { ...predecessor, effectiveAt: time } };
    } else {
      const petId = ++pets;
      const status = [...PET_STATUSES, undefined][petId % 4];
      const data = { id: petId, name: `Zoë ${petId} 🐈`, categoryId: BigInt(petId % 7) };
      fact = { type: "PetCreated", data: status === undefined ? data : { ...data, status } };
    }
    const isPet = fact.type === "PetCreated";
    events.push({
      ...fact,
      id,
      time,
      actor: isPet ? key.keyId : OPERATOR,
      ...(isPet && position % 3 === 0 ? { idempotencyKey: sha256Hex(`once ${position}`) } : {}),
    });
  }
  return linesOf(events);
}

/** The id of the one key of a sample that was not revoked; none in an empty one. */
export function liveKeyOf(lines: string[]): string {
  const issue = lines.findLast((line) => line.includes('"type":"ApiKeyIssued"'));
  return issue === undefined ? "" : JSON.parse(issue).id;
}

/** The lines of events in that order; all hashes fit. */
export function linesOf(events: (EventBody & EventMetadata)[]): string[] {
  let previousHash = GENESIS_HASH;
  return events.map((event, index) => {
    const line = encodeEvent({ ...event, position: index + 1, previousHash });
    previousHash = sha256Hex(line);
    return line;
  });
}

/** The lines with that one put in place of one, and with it all hashes after it made to fit. */
export function rewritten(lines: string[], index: number, line: string): string[] {
  const all = [...lines];
  all[index] = line;
  for (let next = index + 1; next < all.length; next++) {
    const previousHash = sha256Hex(all[next - 1]);
    all[next] = all[next].replace(/"previoushash":"\w+"/, `"previoushash":"${previousHash}"`);
  }
  return all;
}

export function linesToBytes(lines: string[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(lines.map((line) => `${line}\n`).join(""));
}

export function sampleId(position: number): string {
  return `01HZZZZZZZ${String(position).padStart(16, "0")}`;
}
