import { OPERATOR } from "../../events/event.ts";
import { newToken } from "../api_key.ts";
import type { Host } from "../host.ts";
import type { Appender } from "../log/appender.ts";
import { sha256Hex } from "../sha256.ts";

export interface IssuedKey {
  id: string;
  /** The key itself, in clear: to be shown once and kept nowhere. */
  token: string;
}

/** Issues an API key. `expiresAt` is in milliseconds since the Unix epoch; without it the key does not expire. */
export async function issueKey(
  { appender, host }: { appender: Appender; host: Host },
  { label, expiresAt }: { label: string; expiresAt?: number },
): Promise<IssuedKey> {
  const token = newToken(host.randomBytes);
  const id = host.newId();
  const fact = {
    id,
    time: new Date(host.now()).toISOString(),
    actor: OPERATOR,
    type: "ApiKeyIssued" as const,
    data: {
      // The event that issues a key lends it its id: who has the id of a key has found its origin.
      keyId: id,
      label,
      tokenHash: sha256Hex(token),
      ...(expiresAt === undefined ? {} : { expiresAt: new Date(expiresAt).toISOString() }),
    },
  };
  await appender.append({ prepare: () => {}, decide: () => [fact] });
  return { id, token };
}
