import { sha256Hex } from "eventstore-less/parts";
import type { EventBody } from "../../events/all_events.ts";
import { APPLICATION } from "../../src/application.ts";
import type { EventMetadata } from "../../src/eventstore_less/definitions.ts";
import { OPERATOR } from "../../src/eventstore_less/log/actor.ts";
import { encodeEvent, GENESIS_HASH, subjectOf } from "../../src/eventstore_less/log/event.ts";
import type { CategoryEventBody } from "../../events/category.ts";
import {
  formerValuesOf,
  patchPet,
  type Pet,
  PET_STATUSES,
  type PetPatch,
} from "../../events/pet.ts";
import type { Webhook, WebhookEventBody } from "../../events/webhook.ts";
import { utf8 } from "./utf8.ts";

const FIRST_INSTANT = Date.parse("2026-01-01T00:00:00.000Z");

/** Number of events from one issued key to the next. The event after it revokes the previous key. */
const KEY_EVERY = 10;

/** Every so many events, an earlier pet is changed instead of one added. Every fourth time, the last one is removed. */
const CHANGE_EVERY = 5;

/** The position of the restore of the pet that was removed last. */
const RESTORE_AT = 93;

/** The positions of the events of a webhook. */
const OF_WEBHOOK = [94, 96, 98, 103, 104, 106];

/** Each of these places in ten events has one of a category. */
const OF_CATEGORY = [7, 9];

/** A valid log of that length with events of all types, one each second after a time in Unix milliseconds. */
export function sampleLog(length: number, since = FIRST_INSTANT): string[] {
  const events: (EventBody & EventMetadata)[] = [];
  const pets: (Pet | undefined)[] = [];
  /** Of the pet that was changed last. */
  let index = 0;
  let key = { keyId: "", tokenHash: "" };
  let predecessor = key;
  const ofCategories = categoryEvents();
  const ofWebhooks = webhookEvents(since);
  for (let position = 1; position <= length; position++) {
    const id = sampleId(position);
    const time = new Date(since + position * 1_000).toISOString();
    let body: EventBody;
    if (position % KEY_EVERY === 1) {
      predecessor = key;
      key = { keyId: id, tokenHash: sha256Hex(`token ${position}`) };
      body = { type: "ApiKeyIssued", data: { ...key, label: `key ${position}` } };
    } else if (position % KEY_EVERY === 2 && predecessor.keyId !== "") {
      body = { type: "ApiKeyRevoked", data: { ...predecessor, effectiveAt: time } };
    } else if (position === RESTORE_AT) {
      const data = events.findLast(({ type }) => type === "PetRemoved")!.data as Pet;
      pets[data.id - 1] = data;
      body = { type: "PetRestored", data };
    } else if (OF_WEBHOOK.includes(position)) {
      body = ofWebhooks.next().value!;
    } else if (position % CHANGE_EVERY === 0) {
      const isRemoval = position / CHANGE_EVERY % 4 === 3;
      if (!isRemoval) index = position * 7 % pets.length;
      while (pets[index] === undefined) index = (index + 1) % pets.length;
      const before = pets[index]!;
      const after = pets[index] = isRemoval
        ? undefined
        : patchPet(before, patchOf(before, position));
      body = after === undefined
        ? { type: "PetRemoved", data: before }
        : { type: "PetUpdated", data: { ...after, previous: formerValuesOf(before, after) } };
    } else if (OF_CATEGORY.includes(position % 10)) {
      body = ofCategories.next().value!;
    } else {
      const petId = pets.length + 1;
      const status = [...PET_STATUSES, undefined][petId % 4];
      const data = { id: petId, name: `Zoë ${petId} 🐈`, categoryId: BigInt(petId % 7) };
      const pet: Pet = status === undefined ? data : { ...data, status };
      pets.push(pet);
      body = { type: "PetCreated", data: pet };
    }
    const isOfClient = !body.type.startsWith("ApiKey") && body.type !== "WebhookDisabled";
    const once = isOfClient && position % 3 === 0 &&
      { idempotencyKey: sha256Hex(`once ${position}`) };
    events.push({ ...body, id, time, actor: isOfClient ? key.keyId : OPERATOR, ...once });
  }
  return linesOf(events);
}

/** Names categories, changes the name of one, removes one, and names it again. */
function* categoryEvents(): Generator<CategoryEventBody, undefined> {
  const farId = -(2n ** 63n);
  yield { type: "CategoryNamed", data: { id: 1n, name: "Dogs" } };
  yield { type: "CategoryNamed", data: { id: farId, name: "Katzen 🐈" } };
  yield { type: "CategoryRemoved", data: { id: 1n, name: "Dogs" } };
  for (let number = 1;; number++) {
    const [former, name] = [number - 1, number].map((it) => it === 0 ? "Katzen 🐈" : `Cats ${it}`);
    yield { type: "CategoryNamed", data: { id: farId, name, previous: { name: former } } };
    yield { type: "CategoryNamed", data: { id: BigInt(number), name: "dogs" } };
    yield { type: "CategoryRemoved", data: { id: BigInt(number), name: "dogs" } };
  }
}

/** Adds a webhook, changes it, rotates its secret, disables and resumes it, and removes it. */
function* webhookEvents(since: number): Generator<WebhookEventBody, undefined> {
  const [webhookId, , rotationId] = OF_WEBHOOK.map(sampleId);
  const [createdAt, , rotatedAt] = OF_WEBHOOK.map((it) => new Date(since + it * 1_000));
  const secretKey = "0123456789abcdef";
  const terms = { url: "https://shop.example/hooks", description: "Zoë's shop" };
  yield { type: "WebhookAdded", data: { webhookId, ...terms, secretKey } };
  const { description } = terms;
  const first = { eventId: webhookId, secretKey };
  const changed: Webhook = {
    webhookId,
    url: "https://shop.example/animals",
    types: ["PetCreated", "CategoryNamed"],
    description,
    createdAt: createdAt.toISOString(),
    addedAt: OF_WEBHOOK[0],
    secrets: [first],
  };
  const previous = { url: terms.url, types: null };
  yield { type: "WebhookChanged", data: { ...changed, previous } };
  const until = new Date(rotatedAt.getTime() + 24 * 60 * 60 * 1_000).toISOString();
  const secrets = [{ eventId: rotationId, secretKey }, { ...first, until }];
  const rotated: Webhook = { ...changed, secrets };
  yield { type: "WebhookSecretRotated", data: rotated };
  yield { type: "WebhookDisabled", data: { ...rotated, disabledReason: "failing" } };
  yield { type: "WebhookResumed", data: rotated };
  yield { type: "WebhookRemoved", data: rotated };
}

/** A patch that changes the pet: its status, the rest, or both. */
function patchOf({ status }: Pet, position: number): PetPatch {
  const others = [...PET_STATUSES, null].filter((it) => it !== (status ?? null));
  const ofStatus = { status: others[position % others.length] };
  const ofRest = { name: `Zoë, changed at ${position}`, categoryId: BigInt(position) };
  return [ofStatus, { ...ofStatus, ...ofRest }, ofRest][position / CHANGE_EVERY % 4];
}

/** The id of the newest key of a sample, which is not revoked; empty if the sample has no key. */
export function liveApiKeyOf(lines: string[]): string {
  const issue = lines.findLast((line) => line.includes('"type":"ApiKeyIssued"'));
  return issue === undefined ? "" : JSON.parse(issue).id;
}

/** Encodes events in that order, with correct hashes and predecessors. */
export function linesOf(events: (EventBody & EventMetadata)[]): string[] {
  let previousHash = GENESIS_HASH;
  const lastPositions = new Map<string, number>();
  return events.map((event, index) => {
    const position = index + 1;
    const subject = subjectOf(APPLICATION, event);
    const predecessor = lastPositions.get(subject);
    lastPositions.set(subject, position);
    const line = encodeEvent(APPLICATION, { predecessor, ...event, position, previousHash });
    previousHash = sha256Hex(line);
    return line;
  });
}

/** Replaces one line and corrects all hashes after it. */
export function rewritten(lines: string[], index: number, line: string): string[] {
  const all = lines.with(index, line);
  for (let next = index + 1; next < all.length; next++) {
    const link = `"previoushash":"${sha256Hex(all[next - 1])}"`;
    all[next] = all[next].replace(/"previoushash":"\w+"/, link);
  }
  return all;
}

export function linesToBytes(lines: string[]): Uint8Array<ArrayBuffer> {
  return utf8(lines.map((line) => `${line}\n`).join(""));
}

export function sampleId(position: number): string {
  return `01HZZZZZZZ${String(position).padStart(16, "0")}`;
}
