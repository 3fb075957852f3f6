import { OPERATOR } from "../../events/event.ts";
import { type ApiKey, stateOf } from "../api_key.ts";
import type { Runtime } from "../runtime.ts";
import type { Appender } from "../log/appender.ts";
import { listKeys } from "../projections/key_reader.ts";
import type { Store } from "../store/store.ts";
import { type IssuedKey, newKey, type ShowKey } from "./issue_key.ts";

export interface RotationTerms {
  /** How long the old key lives beside its successor. */
  overlapMs: number;
  /** What the successor is called; where it is not said, as the old key is. */
  label?: string;
  /** How long the successor lives; where it is not said, as long as the old key was to live. */
  lifetimeMs?: number;
}

export interface Rotation {
  successor: IssuedKey & { expiresAt?: number };
  predecessor: ApiKey;
  /** From when on the predecessor is refused, in milliseconds since the Unix epoch. */
  retiresAt: number;
}

/** The key has no successor, since it is not one that lives; the message says why. */
export class UnrotatableKeyError extends Error {
  override name = "UnrotatableKeyError";
}

/**
 * Issues the successor of a live key and revokes that key at the end of the overlap, both in one
 * commit. Rejects with `UnrotatableKeyError` where no live key has the id, or one that was rotated
 * before: a key has one successor. `show` gets the successor once the old key is known to be rotatable.
 */
export async function rotateKey(
  { appender, runtime, store }: { appender: Appender; runtime: Runtime; store: Store },
  keyId: string,
  { overlapMs, label, lifetimeMs }: RotationTerms,
  show?: ShowKey,
): Promise<Rotation> {
  const now = runtime.now();
  const { id, token, issue } = newKey(runtime, now);
  const revocation = { id: runtime.newId(), time: new Date(now).toISOString(), actor: OPERATOR };
  let found: ApiKey | undefined;
  let rotation: Rotation | undefined;
  let isShown = false;
  await appender.append({
    async prepare(head) {
      found = (await listKeys(store, head)).find(({ id }) => id === keyId);
      if (isShown) return;
      rotatable(found, keyId, now);
      await show?.({ id, token });
      isShown = true;
    },
    decide() {
      const predecessor = rotatable(found, keyId, now);
      const lifetime = lifetimeMs ?? lifetimeOf(predecessor);
      const expiry = lifetime === undefined ? {} : { expiresAt: now + lifetime };
      // A key that expires within the overlap is not brought to life again by it.
      const retiresAt = Math.min(now + overlapMs, predecessor.expiresAt ?? Infinity);
      rotation = { successor: { id, token, ...expiry }, predecessor, retiresAt };
      const { tokenHash } = predecessor;
      const effectiveAt = new Date(retiresAt).toISOString();
      return [
        issue({ label: label ?? predecessor.label, ...expiry }),
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
  throw new UnrotatableKeyError(`Key ${keyId} was rotated already and is refused from ${end} on`);
}

function lifetimeOf({ issuedAt, expiresAt }: ApiKey): number | undefined {
  return expiresAt === undefined ? undefined : expiresAt - issuedAt;
}
