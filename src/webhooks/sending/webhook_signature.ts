/** Signatures after Standard Webhooks 1.0.0 (https://www.standardwebhooks.com). */

import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

const SECRET_PREFIX = "whsec_";

/** A delivery that is about to be sent. */
export interface Delivery {
  /** The id of the event: the same in each attempt, without a full stop. */
  id: string;
  /** The time of this attempt, in milliseconds since the Unix epoch. Receivers refuse one that is some minutes off. */
  time: number;
  /** Exactly the text that is sent. */
  body: string;
}

/** The headers that sign a delivery: a signature for each secret (`whsec_` and base64), which are several after a rotation. */
export function signatureHeaders(
  { id, time, body }: Delivery,
  secrets: readonly string[],
): Record<string, string> {
  const timestamp = String(Math.floor(time / 1_000));
  const signed = `${id}.${timestamp}.${body}`;
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": secrets.map((secret) => signatureOf(signed, secret)).join(" "),
  };
}

function signatureOf(signed: string, secret: string): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
  return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
}
