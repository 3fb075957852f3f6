import type { History } from "eventstore-less";
import { assertNever } from "eventstore-less/parts";
import type { RecordedLine } from "../../events/all_events.ts";
import { encodeWebhook, formerTermsOf, patchTerms, type Webhook } from "../../events/webhook.ts";
import { rotatedSecrets } from "./rotated_secrets.ts";
import { isWebhookEvent, webhookAfter, type WebhookEvent } from "./webhook_event.ts";

type EventOf<Type extends WebhookEvent["type"]> = Extract<WebhookEvent, { type: Type }>;

/**
 * The rules of the history of webhooks: each is added with the id of its event, and each later event changes no more of it
 * than its type says.
 */
export class WebhookHistory implements History {
  #webhooks = new Map<string, Webhook>();
  /** Whether every line so far could be read. Only then was an unknown webhook not added. */
  #isComplete = true;

  check({ event }: RecordedLine): string[] {
    if (!isWebhookEvent(event)) return [];
    const { webhookId } = event.data;
    const before = this.#webhooks.get(webhookId);
    const after = webhookAfter(event);
    if (after === undefined) this.#webhooks.delete(webhookId);
    else this.#webhooks.set(webhookId, after);
    if (event.type === "WebhookAdded") return faultsOfAddition(event);
    if (before !== undefined) return faultsOfEvent(event, before);
    const fault = `it is about webhook ${webhookId}, which was removed or not added before`;
    return this.#isComplete ? [fault] : [];
  }

  lose(): void {
    this.#webhooks.clear();
    this.#isComplete = false;
  }

  /** Names the webhooks that come back, because the service calls their endpoints again. */
  consequencesOfCut(longer: this): string[] {
    const restored = [...this.#webhooks.values()]
      .filter(({ webhookId }) => !longer.#webhooks.has(webhookId));
    return restored.map(({ webhookId, url }) => {
      return `Webhook ${webhookId} (${
        new URL(url).origin
      }) is there again: its removal is left out.`;
    });
  }
}

function faultsOfAddition({ id, data: { webhookId } }: EventOf<"WebhookAdded">): string[] {
  return webhookId === id ? [] : [`its webhookId ${webhookId} is not its id ${id}`];
}

function faultsOfEvent(
  event: Exclude<WebhookEvent, EventOf<"WebhookAdded">>,
  before: Webhook,
): string[] {
  switch (event.type) {
    case "WebhookChanged":
      return faultsOfChange(event, before);
    case "WebhookRemoved":
      return faultsOfState(event, before);
    case "WebhookSecretRotated": {
      const { data: { secrets: [{ secretKey }] }, id: eventId, time } = event;
      const secrets = rotatedSecrets(before.secrets, { eventId, secretKey }, time);
      return faultsOfState(event, { ...before, secrets });
    }
    case "WebhookDisabled": {
      const { disabledReason } = event.data;
      const isChange = disabledReason !== undefined && before.disabledReason === undefined;
      const faults = isChange ? [] : ["it disables a webhook that is disabled, or gives no reason"];
      return [...faults, ...faultsOfState(event, { ...before, disabledReason })];
    }
    case "WebhookResumed": {
      const faults = before.disabledReason === undefined
        ? ["it resumes a webhook that is not disabled"]
        : [];
      return [...faults, ...faultsOfState(event, { ...before, disabledReason: undefined })];
    }
    default:
      return assertNever(event);
  }
}

/** A change leaves the secrets and the state as they are, and names exactly the terms that it changes. */
function faultsOfChange(event: EventOf<"WebhookChanged">, before: Webhook): string[] {
  const { previous } = event.data;
  const terms = patchTerms(event.data, {});
  const faults = faultsOfState(event, { ...before, ...terms });
  const expected = JSON.stringify(formerTermsOf(before, terms));
  if (expected === "{}") faults.push("it changes no term of the webhook");
  else if (JSON.stringify(previous) !== expected) {
    faults.push("its previous does not match the webhook as it was before");
  }
  return faults;
}

function faultsOfState({ data }: { data: Webhook }, expected: Webhook): string[] {
  if (encodeWebhook(data) === encodeWebhook(expected)) return [];
  return ["its data does not follow from the webhook as it was before"];
}
