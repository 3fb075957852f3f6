import { OPERATOR } from "../../events/event.ts";
import { type ApiKey, stateOf } from "../log/api_keys.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Appender } from "../append/appender.ts";
import { listApiKeys } from "../projections/api_key_reader.ts";
import type { Store } from "../store/store.ts";
import { draftApiKey, issuedEvent, type IssuedKey, type ShowKey } from "./issue_key.ts";

export interface RotationTerms {
  /** How long the old key stays valid after its successor is issued, in milliseconds. */
  overlapMs: number;
  /** Label of the successor; by default that of the old key. */
  label?: string;
  /** Lifetime of the successor, in milliseconds; by default the full lifetime of the old key. */
  lifetimeMs?: number;
}

export interface Rotation {
  successor: IssuedKey & { expiresAt?: number };
  predecessor: ApiKey;
  /** When the predecessor stops being valid, in milliseconds since the Unix epoch. */
  retiresAt: number;
}

/** The key cannot be rotated; the message says why. */
export class UnrotatableKeyError extends Error {
  override name = "UnrotatableKeyError";
}

/**
 * Issues the successor of a live key and revokes that key at the end of the overlap, both in one commit.
 * Rejects with {@linkcode UnrotatableKeyError} if no live key has the id, or if the key was already rotated:
 * a key has one successor. `show` receives the successor after the old key was found to be rotatable.
 */
export async function rotateKey(
  { appender, runtime, store }: { appender: Appender; runtime: Runtime; store: Store },
  keyId: string,
  { overlapMs, label, lifetimeMs }: RotationTerms,
  show?: ShowKey,
): Promise<Rotation> {
  const now = runtime.now();
  const issued = draftApiKey(runtime);
  const revocation = { id: runtime.newId(), time: new Date(now).toISOString(), actor: OPERATOR };
  let predecessor: ApiKey;
  let rotation: Rotation | undefined;
  let isShown = false;
  await appender.append({
    async prepare({ head }) {
      const found = (await listApiKeys(store, head)).find(({ id }) => id === keyId);
      predecessor = rotatable(found, keyId, now);
      if (!isShown) await show?.(issued);
      isShown = true;
    },
    decide() {
      const { issuedAt, expiresAt = Infinity } = predecessor;
      const lifetime = lifetimeMs ?? expiresAt - issuedAt;
      const expiry = lifetime === Infinity ? {} : { expiresAt: now + lifetime };
      // The overlap does not extend the lifetime of a key that expires before its end.
      const retiresAt = Math.min(now + overlapMs, expiresAt);
      rotation = { successor: { ...issued, ...expiry }, predecessor, retiresAt };
      const { tokenHash } = predecessor;
      const effectiveAt = new Date(retiresAt).toISOString();
      return [
        issuedEvent(issued, now, {
          label: label ?? predecessor.label,
          isReadOnly: predecessor.isReadOnly,
          ...expiry,
        }),
        { ...revocation, type: "ApiKeyRevoked", data: { keyId, tokenHash, effectiveAt } },
      ];
    },
  });
  return rotation!;
}

function rotatable(key: ApiKey | undefined, keyId: string, now: number): ApiKey {
  if (key === undefined) throw new UnrotatableKeyError(`No key has the id ${keyId}`);
  const state = stateOf(key, now);
  if (state !== "live") throw new UnrotatableKeyError(`Key ${keyId} is ${state}`);
  if (key.revokedAt === undefined) return key;
  const end = new Date(key.revokedAt).toISOString();
  throw new UnrotatableKeyError(`Key ${keyId} was already rotated and is refused from ${end} on`);
}
