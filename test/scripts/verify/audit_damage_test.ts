/** Damages each record of a store in every way, one at a time, and groups the same content into other records. */

import { audit } from "../../support/tools.ts";
import { bytesEqual } from "../../../src/eventstore_less/encoding/bytes_equal.ts";
import { unpackLines } from "../../../src/eventstore_less/encoding/pack_lines.ts";
import { APPLICATION } from "../../../src/application.ts";
import { isPetEvent } from "../../../src/animals/pet_event.ts";
import { petContentOf } from "../../../src/animals/pet_content.ts";
import { PET_LISTS, petKey, petListOf, removedPetKey } from "../../../src/animals/pet_keys.ts";
import { isCategoryEvent } from "../../../src/categories/category_event.ts";
import { assertEquals, assertGreater } from "@std/assert";
import { decodeEvent } from "../../../src/eventstore_less/log/event.ts";
import { encodePet } from "../../../events/pet.ts";
import { isLogKey, logKey, projectionKey } from "../../../src/eventstore_less/keyspace.ts";
import { project } from "../../../src/eventstore_less/projections/project.ts";
import {
  checkedContent,
  CHECKSUM_BYTES,
  withChecksum,
} from "../../../src/eventstore_less/store/checksum.ts";
import { formatKey } from "../../../src/eventstore_less/store/key_encoding.ts";
import { scan } from "../../../src/eventstore_less/store/scan.ts";
import type { Key, Mutation, StoreEntry } from "../../../src/eventstore_less/store/store.ts";
import { ModelStore } from "../../sim/model_store.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { commit } from "../../support/store_contract.ts";
import { SECONDS, testNeeding } from "../../support/test_needing.ts";

/** Of so many bytes, one is altered at a time: a checksum finds each alike, and all of them would take minutes. */
const BYTE_STEP = 8;

/**
 * A key and its new content, which gets a checksum; or a whole value; or `undefined` to delete the record. A text stands
 * for the value of another program.
 */
type Change = [key: Key, content: Uint8Array | string | undefined, isWhole?: "whole"];

type Damage = [name: string, ...changes: Change[]];

/** A record of the log. */
interface PackedRecord {
  last: number;
  lines: Uint8Array[];
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

testNeeding(SECONDS)(
  "audit() finds altered bytes and every lost, repeated or misplaced piece, and accepts every grouping",
  async () => {
    // 20 events are the fewest that make several records of each kind, all kinds of changes of pets, and a removal.
    using sample = await openSampleStore(20);
    const { runtime } = sample;
    const entries = (await Array.fromAsync(scan(sample.store, { prefix: [] }))).flat();
    const kinds = new Set(entries.map(({ key }) => key[0] === "projection" ? key[2] : key[0]));
    assertEquals(kinds.size, 9, "the sample has records of all kinds");
    const store = new ModelStore();
    // Small reads, so that the records of a kind come in several of them.
    Object.assign(store, { limits: { ...store.limits, listEntries: 2 } });
    const original = new Map(entries.map((entry) => [formatKey(entry.key), contentOf(entry)]));
    const apply = (changes: Change[]) => {
      const mutations = changes.map(([key, content, isWhole]): Mutation => {
        if (content === undefined) return { type: "delete", key };
        const value = isWhole || typeof content === "string" ? content : withChecksum(key, content);
        return { type: "set", key, value: value as Uint8Array };
      });
      return commit(store, mutations);
    };
    await apply(entries.map((entry) => [entry.key, contentOf(entry)]));

    /** The names of the changes after which the audit says that the store is sound, or not. */
    const namesOf = async (damages: Damage[], isSound: boolean) => {
      const names: string[] = [];
      for (const [name, ...changes] of damages) {
        await apply(changes);
        if ((await audit({ store, runtime })).sound === isSound) names.push(name);
        await apply(changes.map(([key]) => [key, original.get(formatKey(key))]));
      }
      return names;
    };
    const log = logOf(entries);
    const isOriginal = ([key, content, isWhole]: Change) => {
      const own = original.get(formatKey(key));
      if (isWhole || typeof content === "string") return false;
      return content === own ||
        content !== undefined && own !== undefined && bytesEqual(content, own);
    };
    // Some changes write what is there.
    const isDamage = ([, ...changes]: Damage) => !changes.every(isOriginal);
    const damages = [...damagesTo(entries, log)].filter(isDamage);
    assertGreater(damages.length, 1_000);
    assertEquals(await namesOf(damages, true), []);
    const groupings = [...groupingsOf(log)];
    assertGreater(groupings.length, 15);
    assertEquals(await namesOf(groupings, false), []);
    assertEquals((await audit({ store, runtime })).faults, []);
  },
);

function* damagesTo(entries: StoreEntry[], log: PackedRecord[]): Generator<Damage> {
  for (const [index, entry] of entries.entries()) {
    const other = entries[(index + 1) % entries.length];
    yield* damagesToAny(entry, other);
    if (entry.key[2] === "removed_pet") yield* damagesToRemoval(entry, log);
    else if (isPetKind(entry.key[2])) yield* damagesToPet(entry, entries);
    else if (isCategoryKind(entry.key[2])) yield* damagesToCategory(entry, log);
  }
  for (const [index, { last }] of log.entries()) {
    for (const [name, ...changes] of damagesToPacked(log, index)) {
      yield [`${name} of the log up to ${last}`, ...changes];
    }
  }
  yield* removedPetsPutBack(log);
}

function isPetKind(kind: unknown): boolean {
  return kind === "pet" || kind === "removed_pet";
}

function isCategoryKind(kind: unknown): boolean {
  return kind === "category" || kind === "removed_category";
}

/** A record of a category as each event of a category makes one, under each id, beside the right one or in its place. */
function* damagesToCategory({ key }: StoreEntry, log: PackedRecord[]): Generator<Damage> {
  const lines = log.flatMap((it) => it.lines);
  const recorded = lines.map((line) => ({
    event: decodeEvent(APPLICATION, decoder.decode(line)),
    line,
  }));
  const records = recorded.filter(({ event }) => isCategoryEvent(event))
    .flatMap((it) => project(APPLICATION, [it]));
  for (const { key: [kind, id], content } of records) {
    if (content === undefined) continue;
    const other = projectionKey(1, [kind, id]);
    const name = `${formatKey(other)} ${decoder.decode(content)}`;
    yield [`content of ${name} in ${formatKey(key)}`, [key, content]];
    yield [`record ${name}`, [other, content]];
    if (formatKey(other) === formatKey(key)) continue;
    yield [`record ${name} in place of ${formatKey(key)}`, [key, undefined], [other, content]];
  }
}

/** The record of a removal with the position of each event, and also for each other pet. */
function* damagesToRemoval(entry: StoreEntry, log: PackedRecord[]): Generator<Damage> {
  const { key } = entry;
  const own = contentOf(entry);
  const last = log.at(-1)!.last;
  for (let position = 0; position <= last + 1; position++) {
    const content = encoder.encode(String(position));
    if (bytesEqual(content, own)) continue;
    yield [`removal ${formatKey(key)} at ${position}`, [key, content]];
    const copy = key.with(-1, position + 1);
    if (formatKey(copy) === formatKey(key)) continue;
    yield [`copy of ${formatKey(key)} for pet ${position + 1}`, [copy, own]];
    yield [`move of ${formatKey(key)} to pet ${position + 1}`, [key, undefined], [copy, own]];
  }
}

/** The record of a removed pet, as each event has made it, or as if the removal had. */
function* removedPetsPutBack(log: PackedRecord[]): Generator<Damage> {
  const lines = log.flatMap((it) => it.lines);
  const events = lines.map((line) => decodeEvent(APPLICATION, decoder.decode(line))).filter(
    isPetEvent,
  );
  for (const removal of events.filter(({ type }) => type === "PetRemoved")) {
    for (const { position, data } of events.filter((it) => it.data.id === removal.data.id)) {
      for (const made of [position, removal.position]) {
        const content = encoder.encode(`${made}${encodePet(data)}`);
        const name = `record of removed pet ${data.id} as at ${position}, made at ${made}`;
        const record: Change = [projectionKey(1, petKey(petListOf(data.status), data.id)), content];
        yield [name, record];
        const removalKey = projectionKey(1, removedPetKey(data.id));
        yield [`${name}, and not removed`, record, [removalKey, undefined]];
      }
    }
  }
}

/** A pet under another status, or as another pet was or is. */
function* damagesToPet(entry: StoreEntry, entries: StoreEntry[]): Generator<Damage> {
  const { key } = entry;
  const name = formatKey(key);
  const own = contentOf(entry);
  const id = key.at(-1) as number;
  for (const list of PET_LISTS.filter((list) => list !== key.at(-2))) {
    const copy = [...key.slice(0, -2), list, id];
    yield [`copy of ${name} in ${list}`, [copy, own]];
    yield [`move of ${name} to ${list}`, [key, undefined], [copy, own]];
  }
  const others = entries.filter((other) => isPetKind(other.key[2]) && other.key.at(-1) !== id);
  for (const other of others) {
    yield [`${name} like ${formatKey(other.key)}`, [key, contentOf(other)]];
  }
  for (const line of logOf(entries).flatMap(({ lines }) => lines)) {
    const event = decodeEvent(APPLICATION, decoder.decode(line));
    if (!isPetEvent(event) || event.data.id !== id) continue;
    const content = petContentOf(event.position, event.data);
    if (!bytesEqual(content, own)) yield [`former state of ${name}`, [key, content]];
  }
}

/** Damages to a record of any kind. */
function* damagesToAny(entry: StoreEntry, other: StoreEntry): Generator<Damage> {
  const { key } = entry;
  const own = contentOf(entry);
  const name = formatKey(key);
  const whole = entry.value as Uint8Array;
  const end = Math.min(CHECKSUM_BYTES + 2, whole.length);
  for (let index = 0; index < end; index++) {
    const altered = whole.with(index, whole[index] ^ 1 << index % 7);
    yield [`byte ${index} of the value of ${name}`, [key, altered, "whole"]];
  }
  yield [`swap of ${name} with its checksum`, [key, other.value as Uint8Array, "whole"]];
  for (let index = 0; index < own.length; index += BYTE_STEP) {
    const altered = own.with(index, own[index] ^ 1 << index % 7);
    yield [`bit ${index % 7} of byte ${index} in ${name}`, [key, altered]];
  }
  yield [`text of ${name}`, [key, decoder.decode(own)]];
  yield [`no byte in ${name}`, [key, new Uint8Array()]];
  yield [`one more byte in ${name}`, [key, joined(own, encoder.encode(" "))]];
  yield [`zero before the content of ${name}`, [key, joined(encoder.encode("0"), own)]];
  yield [`deletion of ${name}`, [key, undefined]];
  const last = key.at(-1);
  const copy = [...key.slice(0, -1), typeof last === "number" ? last + 1_000 : `${String(last)}2`];
  yield [`copy of ${name}`, [copy, own]];
  yield [`move of ${name}`, [key, undefined], [copy, own]];
  yield [`swap of ${name}`, [key, contentOf(other)], [other.key, own]];
  yield [`move of ${name} onto the next`, [key, undefined], [other.key, own]];
}

/** Damages to the lines of one of the records of the log. */
function* damagesToPacked(records: PackedRecord[], index: number): Generator<Damage> {
  const { last, lines } = records[index];
  const next = records[index + 1];
  const key = logKey(last);
  const taken = new Set(records.map((it) => it.last));
  const own = packed(lines);
  for (const [place, line] of lines.entries()) {
    const before = lines.slice(0, place);
    const after = lines.slice(place + 1);
    const upTo = packed([...before, line]);
    const half = line.subarray(0, line.length / 2);
    const nth = `line ${place + 1} of ${lines.length}`;
    yield [`missing ${nth}`, [key, packed([...before, ...after])]];
    yield [`doubled ${nth}`, [key, packed([...before, line, line, ...after])]];
    yield [`cut before ${nth}`, [key, packed(before)]];
    yield [`cut in ${nth}`, [key, joined(packed(before), half)]];
    yield [`cut in ${nth} with a line feed`, [key, packed([...before, half])]];
    yield [`cut line feed of ${nth}`, [key, upTo.slice(0, -1)]];
    yield [`doubled line feed of ${nth}`, [
      key,
      joined(upTo, packed([new Uint8Array(), ...after])),
    ]];
    yield [`loss up to half of ${nth}`, [key, packed([line.subarray(half.length), ...after])]];
    if (after.length > 0) {
      const [second, ...rest] = after;
      yield [`swap of ${nth} and the next`, [key, packed([...before, second, line, ...rest])]];
      yield [`lost line feed of ${nth}`, [key, packed([...before, joined(line, second), ...rest])]];
      yield [`loss up to ${nth}`, [key, packed(after)]];
      // The key that a record of these lines would have.
      const position = last - after.length;
      yield [`loss after ${nth}`, [key, undefined], [logKey(position), upTo]];
      yield [`second copy up to ${nth}`, [logKey(position), upTo]];
      for (const wrong of [position - 1, position + 1]) {
        if (taken.has(wrong) || wrong < 1) continue;
        yield [`split after ${nth}, under ${wrong}`, [logKey(wrong), upTo], [key, packed(after)]];
      }
    }
    if (next !== undefined) {
      const nextKey = logKey(next.last);
      const moved = packed([line, ...next.lines]);
      yield [`move of ${nth} on`, [key, packed([...before, ...after])], [nextKey, moved]];
      yield [`overlap from ${nth}`, [nextKey, packed([line, ...after, ...next.lines])]];
    }
  }
  for (const other of [last - 1, last + 1]) {
    if (taken.has(other) || other < 1) continue;
    yield [`move to ${other}`, [key, undefined], [logKey(other), own]];
    yield [`copy to ${other}`, [logKey(other), own]];
  }
  if (next === undefined) return;
  const [nextKey, nextValue] = [logKey(next.last), packed(next.lines)];
  yield [`merge under its own key`, [key, joined(own, nextValue)], [nextKey, undefined]];
  yield [`merge in the wrong order`, [key, undefined], [nextKey, joined(nextValue, own)]];
}

/** The same lines in other records. */
function* groupingsOf(log: PackedRecord[]): Generator<Damage> {
  const grouped = (sizes: number[]): Change[] => {
    const lines = log.flatMap((it) => it.lines);
    const changes = log.map(({ last }): Change => [logKey(last), undefined]);
    for (let start = 0, group = 0; start < lines.length; group++) {
      const end = Math.min(lines.length, start + sizes[group % sizes.length]);
      changes.push([logKey(end), packed(lines.slice(start, end))]);
      start = end;
    }
    return changes;
  };
  for (const sizes of [[1], [2], [3], [1, 2], [5, 1], [1_000]]) {
    yield [`groups of ${sizes}`, ...grouped(sizes)];
  }
  const own = log.map(({ lines }) => lines.length);
  for (const [index, size] of own.entries()) {
    for (let first = 1; first < size; first++) {
      const sizes = own.toSpliced(index, 1, first, size - first);
      yield [`split after ${first} lines of record ${index}`, ...grouped(sizes)];
    }
    if (index === 0) continue;
    const sizes = own.toSpliced(index - 1, 2, own[index - 1] + size);
    yield [`merged record ${index}`, ...grouped(sizes)];
  }
}

function logOf(entries: StoreEntry[]): PackedRecord[] {
  return entries.filter(({ key }) => isLogKey(key))
    .map((entry) => ({ last: entry.key[1] as number, lines: unpackLines(contentOf(entry))! }));
}

function contentOf(entry: StoreEntry): Uint8Array {
  return checkedContent(entry)!;
}

function packed(lines: Uint8Array[]): Uint8Array {
  const lineFeed = encoder.encode("\n");
  return joined(...lines.flatMap((line) => [line, lineFeed]));
}

function joined(...parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}
