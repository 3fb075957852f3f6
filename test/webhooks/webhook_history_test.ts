/** The rules of the history of webhooks, which an audit and a restore check. */

import { assertEquals } from "@std/assert";
import type { EventBody } from "../../events/all_events.ts";
import type { Webhook } from "../../events/webhook.ts";
import type { EventMetadata } from "../../src/eventstore_less/definitions.ts";
import { OPERATOR } from "../../src/eventstore_less/log/actor.ts";
import { linesOf, sampleId } from "../support/sample_log.ts";
import { LogVerifier } from "../support/tools.ts";
import { utf8 } from "../support/utf8.ts";

type Event = EventBody & EventMetadata;

const KEY_ID = sampleId(1);
const SECRET_KEY = "0123456789abcdef";
const URL = "https://shop.example/hooks";

/** Second 1 of the log, and so on. */
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString();

const ISSUED: Event = {
  type: "ApiKeyIssued",
  data: { keyId: KEY_ID, label: "test", tokenHash: "1".repeat(64) },
  id: KEY_ID,
  time: at(1),
  actor: OPERATOR,
};

/** The webhook that is added at position 2. */
const WEBHOOK: Webhook = {
  webhookId: sampleId(2),
  url: URL,
  createdAt: at(2),
  addedAt: 2,
  secrets: [{ eventId: sampleId(2), secretKey: SECRET_KEY }],
};

const ADDED: EventBody = {
  type: "WebhookAdded",
  data: { webhookId: sampleId(2), url: URL, secretKey: SECRET_KEY },
};

const REMOVED: EventBody = { type: "WebhookRemoved", data: WEBHOOK };
const DISABLED: EventBody = {
  type: "WebhookDisabled",
  data: { ...WEBHOOK, disabledReason: "gone" },
};
const RESUMED: EventBody = { type: "WebhookResumed", data: WEBHOOK };
const CHANGED: EventBody = {
  type: "WebhookChanged",
  data: { ...WEBHOOK, types: ["PetCreated"], previous: { types: null } },
};

/** The secrets after a rotation at position 3. */
const SECRETS = [
  { eventId: sampleId(3), secretKey: SECRET_KEY },
  { ...WEBHOOK.secrets[0], until: "2026-01-02T00:00:03.000Z" },
];
const ROTATED: EventBody = {
  type: "WebhookSecretRotated",
  data: { ...WEBHOOK, secrets: SECRETS },
};

/** An event at each position from 2 on, one a second. */
function eventsOf(bodies: EventBody[], more: Partial<EventMetadata> = {}): Event[] {
  const events = bodies.map((body, index): Event => {
    const actor = body.type === "WebhookDisabled" ? OPERATOR : KEY_ID;
    const id = sampleId(index + 2);
    return { ...body, id, time: at(index + 2), actor } as Event;
  });
  Object.assign(events.at(-1)!, more);
  return [ISSUED, ...events];
}

function faultsOf(events: Event[]): string[] {
  const verifier = new LogVerifier();
  return linesOf(events).flatMap((line) =>
    verifier.verify(utf8(line)).faults.map(({ message }) => message)
  );
}

Deno.test("a log of a webhook is sound if each event changes what its type says", () => {
  assertEquals(faultsOf(eventsOf([ADDED, DISABLED, RESUMED, CHANGED])), []);
  assertEquals(faultsOf(eventsOf([ADDED, ROTATED])), []);
  assertEquals(faultsOf(eventsOf([ADDED, REMOVED])), []);
});

const NOT_FOLLOWING = "its data does not follow from the webhook as it was before";
const UNKNOWN = `it is about webhook ${sampleId(2)}, which was removed or not added before`;
const NO_DISABLING = "it disables a webhook that is disabled, or gives no reason";

/** The only fault, and the events of which the last one has it. */
const FAULTS: [fault: string, bodies: EventBody[], last?: Partial<EventMetadata>][] = [
  [`its webhookId ${sampleId(2)} is not its id ${sampleId(9)}`, [ADDED], { id: sampleId(9) }],
  [UNKNOWN, [ADDED, REMOVED, RESUMED]],
  [NOT_FOLLOWING, [ADDED, { ...REMOVED, data: { ...WEBHOOK, url: `${URL}/2` } } as EventBody]],
  [NOT_FOLLOWING, [ADDED, ROTATED], { time: at(4) }],
  [NOT_FOLLOWING, [ADDED, ROTATED], { id: sampleId(9) }],
  [NO_DISABLING, [ADDED, DISABLED, DISABLED]],
  ["it resumes a webhook that is not disabled", [ADDED, RESUMED]],
  ["it changes no term of the webhook", [
    ADDED,
    { type: "WebhookChanged", data: { ...WEBHOOK, previous: {} } },
  ]],
  ["its previous does not match the webhook as it was before", [
    ADDED,
    { ...CHANGED, data: { ...CHANGED.data, previous: { url: `${URL}/2` } } } as EventBody,
  ]],
  [
    `its actor is key ${KEY_ID}, but only the operator disables webhooks`,
    [ADDED, DISABLED],
    { actor: KEY_ID },
  ],
  ["its actor is the operator, but only a key causes WebhookResumed", [ADDED, DISABLED, RESUMED], {
    actor: OPERATOR,
  }],
  ["its actor is the operator, but only a key causes WebhookAdded", [ADDED], { actor: OPERATOR }],
];

Deno.test("an event of a webhook that changes anything else is a fault", () => {
  for (const [fault, bodies, last] of FAULTS) {
    assertEquals(faultsOf(eventsOf(bodies, last)), [fault]);
  }
});

Deno.test("a cut names the webhooks that are there again", () => {
  const verifiers = [[ADDED, CHANGED], [ADDED, REMOVED]].map((bodies) => {
    const verifier = new LogVerifier();
    for (const line of linesOf(eventsOf(bodies))) verifier.verify(utf8(line));
    return verifier;
  });
  const sentence = `Webhook ${sampleId(2)} (https://shop.example) is there again: ` +
    "its removal is left out.";
  assertEquals(verifiers[0].consequencesOfCut(verifiers[1], 0), [sentence]);
  assertEquals(verifiers[1].consequencesOfCut(verifiers[0], 0), []);
});
