import { type History, OPERATOR } from "eventstore-less";
import type { RecordedEvent, RecordedLine } from "../../events/all_events.ts";
import type { ApiKeyEventBody } from "../../events/api_key.ts";
import { type ApiKey, issuedApiKey, revocationOf, revoke, stateOf } from "./api_key.ts";

type EventOf<Type extends ApiKeyEventBody["type"]> = Extract<RecordedEvent, { type: Type }>;

/**
 * The rules of the history of API keys: only the operator issues and revokes them, and only the service, which is the
 * operator in the log, disables a webhook. A key that was issued before, and was valid at the time, causes each other event.
 */
export class ApiKeyHistory implements History {
  #apiKeys = new Map<string, ApiKey>();
  #tokenHashes = new Set<string>();
  /** Whether every line so far could be read. Only then was an unknown key not issued. */
  #isComplete = true;

  check({ event }: RecordedLine): string[] {
    switch (event.type) {
      case "ApiKeyIssued":
        return [...faultsOfOperator(event, "issues keys"), ...this.#checkIssue(event)];
      case "ApiKeyRevoked":
        return [...faultsOfOperator(event, "revokes keys"), ...this.#checkRevocation(event)];
      case "WebhookDisabled":
        return faultsOfOperator(event, "disables webhooks");
      default:
        return this.#checkActor(event);
    }
  }

  lose(): void {
    this.#isComplete = false;
  }

  /** Names the keys that are valid without the later revocations, and those that are not known without their issue. */
  consequencesOfCut(longer: this, now: number): string[] {
    const sentences: string[] = [];
    for (const apiKey of longer.#apiKeys.values()) {
      const { id, label, revokedAt = Infinity } = apiKey;
      const name = `Key ${id} (${label})`;
      const cut = this.#apiKeys.get(id);
      if (cut === undefined) {
        if (stateOf(apiKey, now) === "live") {
          sentences.push(`${name} is refused: its issue is left out.`);
        }
        continue;
      }
      const isRevocationLost = revokedAt < (cut.revokedAt ?? Infinity);
      if (!isRevocationLost || stateOf(cut, now) !== "live") continue;
      const end = new Date(revokedAt).toISOString();
      sentences.push(`${name} is valid again: its revocation with effect from ${end} is left out.`);
    }
    return sentences;
  }

  /** Checks that the actor is a key that was issued before, and was not revoked or expired at the time. */
  #checkActor({ actor, time, type }: RecordedEvent): string[] {
    if (actor === OPERATOR) return [`its actor is the operator, but only a key causes ${type}`];
    const apiKey = this.#apiKeys.get(actor);
    if (apiKey === undefined) {
      const fault = `its actor ${actor} is not a key that was issued before`;
      return this.#isComplete ? [fault] : [];
    }
    const { isReadOnly, isRevoked, revokedAt = Infinity, expiresAt = Infinity } = apiKey;
    const timeMs = Date.parse(time);
    const faults = isReadOnly ? [`its actor ${actor} may only read`] : [];
    if (isRevoked) faults.push(`its actor ${actor} was revoked before`);
    else if (timeMs >= revokedAt) {
      const effective = new Date(revokedAt).toISOString();
      faults.push(`its actor ${actor} was revoked with effect from ${effective}`);
    } else if (timeMs >= expiresAt) {
      faults.push(`its actor ${actor} expired at ${new Date(expiresAt).toISOString()}`);
    }
    return faults;
  }

  #checkIssue({ data, id, time, position }: EventOf<"ApiKeyIssued">): string[] {
    const { keyId, tokenHash } = data;
    const faults = keyId === id ? [] : [`its keyId ${keyId} is not its id ${id}`];
    if (this.#apiKeys.has(keyId) || this.#tokenHashes.has(tokenHash)) {
      faults.push(`key ${keyId} or its token was issued before`);
    }
    this.#apiKeys.set(keyId, issuedApiKey(data, time, position));
    this.#tokenHashes.add(tokenHash);
    return faults;
  }

  #checkRevocation(event: EventOf<"ApiKeyRevoked">): string[] {
    const { keyId, tokenHash } = event.data;
    const apiKey = this.#apiKeys.get(keyId);
    if (apiKey === undefined) {
      const fault = `it revokes key ${keyId}, which was not issued before`;
      return this.#isComplete ? [fault] : [];
    }
    const faults: string[] = [];
    if (apiKey.tokenHash !== tokenHash) {
      faults.push(`it revokes key ${keyId} under a token hash that is not the key's`);
    }
    const revocation = revocationOf(event);
    const { revokedAt: earlier = Infinity } = apiKey;
    const isLater = !revocation.isAtOnce && Date.parse(revocation.revokedAt) > earlier;
    // The service never wrote this, but no line before format 6 was refused for it.
    if (isLater && event.predecessor !== undefined) {
      faults.push(`it revokes key ${keyId} at a later time than an event before`);
    }
    revoke(apiKey, revocation);
    apiKey.position = event.position;
    return faults;
  }
}

function faultsOfOperator({ actor }: RecordedEvent, does: string): string[] {
  return actor === OPERATOR ? [] : [`its actor is key ${actor}, but only the operator ${does}`];
}
