/** The secrets of webhooks, which are derived from a key of the service and stored nowhere. */

import { createHmac, hash } from "node:crypto";
import { Buffer } from "node:buffer";
import type { Webhook, WebhookSecret } from "../../events/webhook.ts";

/** Size of a key. */
export const WEBHOOK_KEY_BYTES = 32;

/** During a rotation of the key, there are two. */
const KEYS_LIMIT = 2;

const FINGERPRINT_DIGITS = 16;

/** The text of a key: 32 bytes in base64. */
const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;

/** Keeps the secrets apart from any other use of the key. */
const CONTEXT = "animal-store webhook secret\n";

interface WebhookKey {
  fingerprint: string;
  bytes: Uint8Array;
}

/** The keys of which secrets are derived. They are private, so no line of a log shows one. */
export class WebhookKeys {
  readonly #keys: readonly WebhookKey[];

  private constructor(keys: readonly WebhookKey[]) {
    this.#keys = keys;
  }

  /** Parses one key, or two that a comma separates. Returns `undefined` if it is anything else. */
  static parse(text: string): WebhookKeys | undefined {
    const texts = text.split(",").map((part) => part.trim());
    const isRight = texts.length <= KEYS_LIMIT && texts.every((part) => KEY_TEXT.test(part)) &&
      new Set(texts).size === texts.length;
    return isRight ? WebhookKeys.of(texts.map((part) => Buffer.from(part, "base64"))) : undefined;
  }

  /** The keys of those 32 bytes each; the first one makes new secrets. */
  static of(keys: readonly Uint8Array[]): WebhookKeys {
    const isRight = keys.length > 0 && keys.every(({ length }) => length === WEBHOOK_KEY_BYTES);
    if (!isRight) throw new TypeError(`Each key must have ${WEBHOOK_KEY_BYTES} bytes`);
    return new WebhookKeys(keys.map((bytes) => {
      return { bytes, fingerprint: hash("sha256", bytes, "hex").slice(0, FINGERPRINT_DIGITS) };
    }));
  }

  /** The fingerprint of the key that makes new secrets: the `secretKey` of their events. */
  get latest(): string {
    return this.#keys[0].fingerprint;
  }

  /** A secret as its receiver knows it; `undefined` if none of the keys has made it. */
  textOf({ eventId, secretKey }: WebhookSecret): string | undefined {
    const key = this.#keys.find(({ fingerprint }) => fingerprint === secretKey);
    if (key === undefined) return undefined;
    const secret = createHmac("sha256", key.bytes).update(CONTEXT + eventId).digest("base64");
    return `whsec_${secret}`;
  }
}

/**
 * The secrets with which a webhook signs at that time in milliseconds since the Unix epoch, the latest one first. None if
 * the key of the latest one is lost: then the endpoint must not be called.
 */
export function secretsOf(
  { secrets: [latest, ...former] }: Pick<Webhook, "secrets">,
  keys: WebhookKeys,
  now: number,
): string[] {
  const text = keys.textOf(latest);
  if (text === undefined) return [];
  const valid = former.filter(({ until }) => now < Date.parse(until!));
  return [text, ...valid.flatMap((secret) => keys.textOf(secret) ?? [])];
}
