/**
 * Judges what has reached the receivers of webhooks by the log and the stored places: each event reaches each receiver, in
 * order, repeated only from the last place that its sender knew, one attempt at a time, and none after a removal.
 */

import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { textForClients } from "./consumer.ts";
import { type CommittedLine, feedIdOf, type Oracle, type StoredPlaces } from "./oracle.ts";
import type { Delivered, Placement, Receivers } from "./receivers.ts";

/** Time from a removal until no attempt begins any more, in milliseconds: while the store has faults, and without. */
const REMOVAL_LIMITS_MS = { faulty: 20_000, sound: 100 };

/** A webhook, as the log has it. */
interface LoggedWebhook {
  id: string;
  url: string;
  added: CommittedLine;
  removed?: CommittedLine;
  /** The events that it gets, in their order. */
  wanted: CommittedLine[];
  /** The positions after which it begins, or its owner let it continue. */
  placements: Placement[];
}

/** Returns the broken promises. `soundFrom` is the time after which nothing has faults. */
export function* checkDeliveries(
  receivers: Receivers,
  oracle: Oracle,
  soundFrom: number,
): Iterable<string> {
  const { delivered, owned } = receivers;
  const known = owned.filter(({ hasLostSecret }) => !hasLostSecret);
  const secrets = new Map(known.map((it) => [it.url, it.secrets]));
  const byUrl = Map.groupBy(delivered, ({ url }) => url);
  for (const webhook of webhooksOf(receivers, oracle)) {
    const attempts = byUrl.get(webhook.url) ?? [];
    const inOrder = attempts.toSorted((one, other) => one.step - other.step);
    for (
      const violation of [
        ...checkContents(webhook, inOrder, secrets.get(webhook.url)),
        ...checkSequence(webhook, inOrder),
        ...checkRepetitions(webhook, inOrder, oracle.storedPlaces),
        ...checkTurns(inOrder),
        ...checkRemoval(webhook, inOrder, soundFrom),
      ]
    ) {
      yield `Webhook ${webhook.id} (${webhook.url}): ${violation}`;
    }
  }
}

/** How many events the receivers still wait for. */
export function missingEvents(receivers: Receivers, oracle: Oracle): number {
  const { delivered } = receivers;
  const confirmed = new Set(
    delivered.filter(({ isConfirmed }) => isConfirmed)
      .map(({ url, headers }) => `${url} ${headers["webhook-id"]}`),
  );
  const present = webhooksOf(receivers, oracle).filter(({ removed }) => removed === undefined);
  const missing = present.map(({ placements, url, wanted }) => {
    // Its owner may have let it pass over earlier events.
    const passed = Math.max(...placements.map(({ position }) => position));
    const required = wanted.filter(({ position }) => position > passed);
    return required.filter((line) => !confirmed.has(`${url} ${feedIdOf(line)}`)).length;
  });
  return missing.reduce((sum, count) => sum + count, 0);
}

/** The ids of the events after a position for each webhook that is there at the end, by the id of the webhook. */
export function wantedAfter(
  oracle: Oracle,
  place: number,
): Map<string, { url: string; ids: string[] }> {
  const beginning: Placement = { id: "", position: place, startStep: 0, endStep: 0 };
  const present = webhooksOf({ placements: [] }, oracle, beginning)
    .filter(({ removed }) => removed === undefined);
  return new Map(present.map(({ id, url, wanted }) => {
    const after = wanted.filter(({ position }) => position > place);
    return [id, { url, ids: after.map(feedIdOf) }];
  }));
}

/** The webhooks whose receiver belongs to no other one: if the record of an Idempotency-Key is lost, there are two. */
function webhooksOf(
  { placements }: Pick<Receivers, "placements">,
  { lines }: Oracle,
  ...ofAll: Placement[]
): LoggedWebhook[] {
  const additions = lines.filter(({ event }) => event.type === "WebhookAdded");
  const byUrl = Map.groupBy(additions, ({ event }) => event.data.url);
  const alone = additions.filter(({ event }) => byUrl.get(event.data.url)!.length === 1);
  return alone.map((added) => {
    const { webhookId: id, url, types } = added.event.data;
    const removed = lines.find(({ event: { type, data } }) =>
      type === "WebhookRemoved" && data.webhookId === id
    );
    const end = removed?.position ?? Infinity;
    const { position, step } = added;
    const addition: Placement = { id, position, startStep: step, endStep: step };
    const own = [addition, ...ofAll, ...placements.filter((it) => it.id === id)];
    // Its owner may also ask for events from before its addition.
    const begin = Math.min(...own.map(({ position }) => position));
    const wanted = lines.filter(({ position, event: { type } }) =>
      position > begin && position < end && /^(Pet|Category)/.test(type) &&
      (types === undefined || types.includes(type))
    );
    return { id, url, added, removed, wanted, placements: own };
  });
}

function indexOf({ wanted }: LoggedWebhook, { headers }: Delivered): number {
  return wanted.findIndex((line) => feedIdOf(line) === headers["webhook-id"]);
}

/** Checks that each attempt has the event as the feed shows it, signed with a secret that the owner has. */
function* checkContents(
  webhook: LoggedWebhook,
  attempts: readonly Delivered[],
  secrets: readonly string[] | undefined,
): Iterable<string> {
  for (const attempt of attempts) {
    const line = webhook.wanted[indexOf(webhook, attempt)];
    const { headers, body } = attempt;
    const id = headers["webhook-id"];
    if (line === undefined) yield `it got ${id}, which is not for it`;
    else if (body !== textForClients(line)) yield `it got ${id} as ${body}`;
    if (secrets !== undefined && !isSigned(attempt, secrets)) yield `${id} has no right signature`;
  }
}

function isSigned({ headers, body }: Delivered, secrets: readonly string[]): boolean {
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${body}`;
  const given = headers["webhook-signature"].split(" ");
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
    return given.includes(`v1,${createHmac("sha256", key).update(signed).digest("base64")}`);
  });
}

/** Checks that no event overtakes one that was not confirmed. */
function* checkSequence(
  webhook: LoggedWebhook,
  attempts: readonly Delivered[],
): Iterable<string> {
  const confirmed = new Set([-1]);
  for (const attempt of attempts) {
    const index = indexOf(webhook, attempt);
    const before = webhook.wanted[index - 1];
    const isPlaced = webhook.placements.some(({ position, startStep }) =>
      startStep < attempt.step && before?.position <= position
    );
    if (index !== -1 && !confirmed.has(index - 1) && !isPlaced) {
      yield `it got ${attempt.headers["webhook-id"]} before it confirmed ${feedIdOf(before)}`;
    }
    if (attempt.isConfirmed) confirmed.add(index);
  }
}

/**
 * Checks that no instance sends an event again that it had itself stored as handled, unless the owner let the webhook
 * continue from an earlier position.
 */
function* checkRepetitions(
  webhook: LoggedWebhook,
  attempts: readonly Delivered[],
  stored: readonly StoredPlaces[],
): Iterable<string> {
  const name = `webhooks/${webhook.id}`;
  // Without the writes that name a place for an owner: the instance that delivers learns of it at its own next write.
  const handled = stored.filter(({ places }, index) =>
    places[name]?.named === stored[index - 1]?.places[name]?.named
  );
  for (const attempt of attempts) {
    const { node, sentStep, headers } = attempt;
    const last = handled.findLast((it) => it.node === node && it.step < sentStep);
    const place = last?.places[name]?.position ?? 0;
    const line = webhook.wanted[indexOf(webhook, attempt)];
    if (line === undefined || line.position > place) continue;
    const isPlaced = webhook.placements.some(({ position, endStep }) =>
      position < line.position && endStep >= last!.step
    );
    if (isPlaced) continue;
    yield `${node.name} sent ${headers["webhook-id"]} although it had stored the place ${place}`;
  }
}

/** Checks that one attempt ends before the next one begins, unless its instance was paused. */
function* checkTurns(attempts: readonly Delivered[]): Iterable<string> {
  const inTime = attempts.toSorted((one, other) => one.sentAt - other.sentAt);
  for (const [index, { node, sentAt, endAt }] of inTime.entries()) {
    const next = inTime[index + 1];
    if (next === undefined || next.sentAt >= endAt) continue;
    if (node.pausedBetween(sentAt, next.sentAt) > 0) continue;
    yield `${node.name} and ${next.node.name} sent to it at the same time, ${next.sentAt}`;
  }
}

function* checkRemoval(
  { removed }: LoggedWebhook,
  attempts: readonly Delivered[],
  soundFrom: number,
): Iterable<string> {
  if (removed === undefined) return;
  const { faulty, sound } = REMOVAL_LIMITS_MS;
  const end = removed.at + (removed.at >= soundFrom ? sound : faulty);
  for (const { node, sentAt, headers } of attempts) {
    if (sentAt <= end || node.pausedBetween(removed.at, sentAt) > 0) continue;
    yield `${node.name} sent ${headers["webhook-id"]} ${sentAt - removed.at} ms after its removal`;
  }
}
