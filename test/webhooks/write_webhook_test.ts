import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "eventstore-less";
import type { NewWebhook, WebhookEventBody } from "../../events/webhook.ts";
import { encodeShownWebhook, shownWebhook } from "../../src/webhooks/shown_webhook.ts";
import type { WebhookEvent } from "../../src/webhooks/webhook_event.ts";
import type { WebhookRecord } from "../../src/webhooks/webhook_reader.ts";
import {
  additionRule,
  changeRule,
  removalRule,
  rotationRule,
  type WebhookRule,
  WEBHOOKS_LIMIT,
} from "../../src/webhooks/write_webhook.ts";
import { sampleId } from "../support/sample_log.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const SECRET_KEY = "0123456789abcdef";
const TERMS: NewWebhook = { url: "https://shop.example/hooks", types: ["PetCreated"] };
const ID = sampleId(1);

/** The data of an event of the webhook, and its record at position 5. */
const STATE = {
  webhookId: ID,
  ...TERMS,
  description: undefined,
  createdAt: TIME,
  addedAt: 2,
  secrets: [{ eventId: ID, secretKey: SECRET_KEY }],
  disabledReason: undefined,
};
const RECORD: WebhookRecord = {
  ...STATE,
  id: ID,
  text: encodeShownWebhook(shownWebhook(STATE)),
  position: 5,
  isProven: true,
};

const before = (...webhooks: WebhookRecord[]) => {
  return { byId: new Map(webhooks.map((it) => [it.id, it])), time: TIME };
};
const eventOf = (body: WebhookEventBody) => body as WebhookEvent;

function assertRefused(rule: WebhookRule, code: string, ...webhooks: WebhookRecord[]): void {
  const error = assertThrows(() => rule.decide(before(...webhooks)), ServiceError);
  assertEquals(error.code, code);
}

Deno.test("additionRule() adds a webhook with the id of its event, while there is room", () => {
  const rule = additionRule(ID, TERMS, SECRET_KEY);
  const data = { webhookId: ID, ...TERMS, secretKey: SECRET_KEY };
  assertEquals(rule.decide(before()), { id: ID, type: "WebhookAdded", data });
  const others = Array.from({ length: WEBHOOKS_LIMIT }, (_, index) => {
    return { ...RECORD, id: sampleId(index + 2) };
  });
  assertEquals(rule.decide(before(...others.slice(1)))?.type, "WebhookAdded");
  assertRefused(rule, "too_many_webhooks", ...others);
});

Deno.test("the outcome of an addition has its terms, whatever id and key it got", () => {
  const { isOutcome } = additionRule(ID, TERMS, SECRET_KEY);
  const data = { webhookId: sampleId(2), ...TERMS, secretKey: "f".repeat(16) };
  assertEquals(isOutcome(eventOf({ type: "WebhookAdded", data })), true);
  for (
    const terms of [{ url: "https://other.example" }, { types: undefined }, { description: "a" }]
  ) {
    const other = { ...data, ...terms };
    assertEquals(isOutcome(eventOf({ type: "WebhookAdded", data: other })), false);
  }
  assertEquals(isOutcome(eventOf({ type: "WebhookRemoved", data: STATE })), false);
});

Deno.test("changeRule() names the former terms, and leaves the rest as it is", () => {
  const patch = { types: null, description: "Zoë's shop" };
  const decided = changeRule({ webhookId: ID, patch }).decide(before(RECORD));
  const after = { ...STATE, types: undefined, description: "Zoë's shop" };
  const data = { ...after, previous: { types: TERMS.types, description: null } };
  assertEquals(decided, { type: "WebhookChanged", data, predecessor: 5 });
  const same = { url: TERMS.url, types: TERMS.types, description: null };
  assertEquals(changeRule({ webhookId: ID, patch: same }).decide(before(RECORD)), undefined);
});

Deno.test("the outcome of a change has the terms of the patch, and has changed no others", () => {
  const { isOutcome } = changeRule({ webhookId: ID, patch: { description: "a" } });
  const changed = (more: object, previous: object = { description: null }) =>
    eventOf({ type: "WebhookChanged", data: { ...STATE, description: "a", ...more, previous } });
  assertEquals(isOutcome(changed({})), true);
  assertEquals(isOutcome(changed({ description: "b" })), false);
  assertEquals(isOutcome(changed({ webhookId: sampleId(2) })), false);
  assertEquals(isOutcome(changed({}, { description: null, types: null })), false);
  assertEquals(isOutcome(eventOf({ type: "WebhookResumed", data: STATE })), false);
});

Deno.test("rotationRule() puts a secret before the former one, which ends after 24 hours", () => {
  const rule = rotationRule({ webhookId: ID }, sampleId(2), "f".repeat(16));
  const secrets = [
    { eventId: sampleId(2), secretKey: "f".repeat(16) },
    { ...STATE.secrets[0], until: "2026-01-02T00:00:00.000Z" },
  ];
  const data = { ...STATE, secrets };
  const decided = { id: sampleId(2), type: "WebhookSecretRotated", data, predecessor: 5 };
  assertEquals(rule.decide(before(RECORD)), decided as never);
});

Deno.test("removalRule() removes the whole webhook", () => {
  const decided = removalRule({ webhookId: ID }).decide(before(RECORD));
  assertEquals(decided, { type: "WebhookRemoved", data: STATE, predecessor: 5 });
});

Deno.test("a webhook that is not there, or is not as expected, is not written", () => {
  const rulesOf = (target: { webhookId: string; isExpected?: (text: string) => boolean }) => [
    changeRule({ ...target, patch: { description: "a" } }),
    rotationRule(target, sampleId(2), SECRET_KEY),
    removalRule(target),
  ];
  for (const rule of rulesOf({ webhookId: sampleId(9) })) {
    assertRefused(rule, "webhook_not_found", RECORD);
  }
  for (const rule of rulesOf({ webhookId: ID, isExpected: (text) => text !== RECORD.text })) {
    assertRefused(rule, "precondition_failed", RECORD);
  }
});
