import { type EventBody, type EventMetadata, OPERATOR } from "../../events/event.ts";
import { newToken } from "../projections/api_key.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Appender } from "../append/appender.ts";
import { sha256Hex } from "../encoding/sha256.ts";

export interface IssuedKey {
  id: string;
  /** The key itself in plain text. Show it once and store it nowhere. */
  token: string;
}

/** `expiresAt` is in milliseconds since the Unix epoch; if it is absent, the key does not expire. */
export interface KeyTerms {
  label: string;
  expiresAt?: number;
  /** Whether the key must not add or change pets. */
  isReadOnly?: boolean;
}

/** Shows a key to its owner before it is issued. If it rejects, no key is issued. */
export type ShowKey = (key: IssuedKey) => Promise<void>;

/** Issues an API key. Rejects with the errors of {@linkcode Appender.append}, or as `show` does. */
export async function issueKey(
  { appender, runtime }: { appender: Appender; runtime: Runtime },
  terms: KeyTerms,
  show?: ShowKey,
): Promise<IssuedKey> {
  const issued = draftApiKey(runtime);
  const event = issuedEvent(issued, runtime.now(), terms);
  await show?.(issued);
  await appender.append({ prepare: () => {}, decide: () => [event] });
  return issued;
}

/** Creates a key. The service does not accept the key until its {@linkcode issuedEvent} is in the log. */
export function draftApiKey(runtime: Runtime): IssuedKey {
  return { id: runtime.newId(), token: newToken(runtime.randomBytes) };
}

/** The event that issues a key. It has the id of the key, so an operator finds it by that id. */
export function issuedEvent(
  { id, token }: IssuedKey,
  now: number,
  { label, expiresAt, isReadOnly = false }: KeyTerms,
): EventBody & EventMetadata {
  const data = {
    keyId: id,
    label,
    tokenHash: sha256Hex(token),
    ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    ...(isReadOnly ? { readOnly: true as const } : {}),
  };
  return { id, time: new Date(now).toISOString(), actor: OPERATOR, type: "ApiKeyIssued", data };
}
