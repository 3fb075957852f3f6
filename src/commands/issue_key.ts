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
  /** Whether the key must not add pets. */
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
  const { id, token, issue } = draftApiKey(runtime);
  const event = issue(terms);
  await show?.({ id, token });
  await appender.append({ prepare: () => {}, decide: () => [event] });
  return { id, token };
}

/** Creates a key. The service does not accept the key until the event that `issue` creates is in the log. */
export function draftApiKey(
  runtime: Runtime,
  now = runtime.now(),
): IssuedKey & { issue: (terms: KeyTerms) => EventBody & EventMetadata } {
  const token = newToken(runtime.randomBytes);
  // The key's id is the id of the event that issues it, so an operator finds that event by the key's id.
  const id = runtime.newId();
  const time = new Date(now).toISOString();
  const tokenHash = sha256Hex(token);
  const issue = ({ label, expiresAt, isReadOnly = false }: KeyTerms) => ({
    id,
    time,
    actor: OPERATOR,
    type: "ApiKeyIssued" as const,
    data: {
      keyId: id,
      label,
      tokenHash,
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
      ...(isReadOnly ? { readOnly: true as const } : {}),
    },
  });
  return { id, token, issue };
}
