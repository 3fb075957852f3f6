/** The commands of operators: they issue, rotate and revoke API keys. */

import { type EventStore, type NewEvent, type Runtime, ServiceError } from "eventstore-less";
import { isTimeOfLog, sha256Hex } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { EventBody } from "../../events/all_events.ts";
import type { ApiKeyIssuedData } from "../../events/api_key.ts";
import { type ApiKey, stateOf } from "./api_key.ts";
import { newToken } from "./token.ts";
import { findApiKey } from "./api_key_reader.ts";

interface WriteApiKeyDeps {
  append: EventStore<EventBody>["append"];
  runtime: Runtime;
  store: Store;
}

interface IssuedApiKey {
  id: string;
  /** The key itself in plain text. Show it once and store it nowhere. */
  token: string;
}

/** `expiresAt` is in milliseconds since the Unix epoch; if it is absent, the key does not expire. */
interface ApiKeyTerms {
  label: string;
  expiresAt?: number;
  isReadOnly?: boolean;
}

/** Shows a key to its owner before it is issued. If it rejects, no key is issued. */
export type ShowApiKey = (issued: IssuedApiKey) => Promise<void>;

/** Issues an API key. Rejects with the errors of {@linkcode EventStore.append}, or as `show` does. */
export async function issueApiKey(
  deps: Pick<WriteApiKeyDeps, "append" | "runtime">,
  terms: ApiKeyTerms,
  show?: ShowApiKey,
): Promise<IssuedApiKey> {
  const issued = draftApiKey(deps.runtime);
  const event = issuedEvent(issued, terms);
  await show?.(issued);
  await deps.append({ endsCommit: true, decide: () => [event] });
  return issued;
}

interface RotationTerms {
  /** How long the old key stays valid after its successor is issued, in milliseconds. */
  overlapMs: number;
  /** Label of the successor; by default the label of the old key. */
  label?: string;
  /** Lifetime of the successor, in milliseconds; by default the full lifetime of the old key. */
  lifetimeMs?: number;
}

interface Rotation {
  successor: IssuedApiKey & { expiresAt?: number };
  predecessor: ApiKey;
  /** When the predecessor stops being valid, in milliseconds since the Unix epoch. */
  retiresAt: number;
}

export class UnrotatableApiKeyError extends Error {
  override name = "UnrotatableApiKeyError";
}

/**
 * Issues the successor of a live key and revokes that key at the end of the overlap, both in one commit. Rejects with
 * {@linkcode UnrotatableApiKeyError} if no live key has the id, or if it already has a successor: also after `show` was
 * called, if another process revokes or rotates the key in that moment.
 */
export async function rotateApiKey(
  deps: WriteApiKeyDeps,
  keyId: string,
  { overlapMs, label, lifetimeMs }: RotationTerms,
  show?: ShowApiKey,
): Promise<Rotation> {
  const issued = draftApiKey(deps.runtime);
  let shown: Promise<void> | undefined;
  const { prepared } = await deps.append<Rotation>({
    endsCommit: true,
    async prepare({ head, time }) {
      const now = Date.parse(time);
      const predecessor = rotatable(await findApiKey(deps.store, head, keyId), keyId, now);
      const { issuedAt, expiresAt = Infinity } = predecessor;
      const lifetime = lifetimeMs ?? expiresAt - issuedAt;
      const expiry = lifetime === Infinity ? {} : { expiresAt: now + lifetime };
      // The overlap does not extend the lifetime of a key that expires before its end.
      const retiresAt = Math.min(now + overlapMs, expiresAt);
      // Once, although a command may be prepared again.
      shown ??= show?.(issued);
      await shown;
      return { successor: { ...issued, ...expiry }, predecessor, retiresAt };
    },
    decide(_head, { prepared: { successor: { expiresAt }, predecessor, retiresAt } }) {
      const { tokenHash, isReadOnly, position } = predecessor;
      const terms = { label: label ?? predecessor.label, expiresAt, isReadOnly };
      const data = { keyId, tokenHash, effectiveAt: instantOf(retiresAt) };
      const revoked = { type: "ApiKeyRevoked", data, predecessor: position } as const;
      return [issuedEvent(issued, terms), revoked];
    },
  });
  return prepared!;
}

function rotatable(apiKey: ApiKey | undefined, keyId: string, now: number): ApiKey {
  if (apiKey === undefined) throw new UnrotatableApiKeyError(`No key has the id ${keyId}`);
  const state = stateOf(apiKey, now);
  if (state !== "live") throw new UnrotatableApiKeyError(`Key ${keyId} is ${state}`);
  if (apiKey.revokedAt === undefined) return apiKey;
  const end = new Date(apiKey.revokedAt).toISOString();
  throw new UnrotatableApiKeyError(
    `Key ${keyId} was already rotated and is refused from ${end} on`,
  );
}

/** Revokes a key at once, unless it already was. Resolves to the key as it was before, or to `undefined` if unknown. */
export async function revokeApiKey(
  deps: WriteApiKeyDeps,
  keyId: string,
): Promise<ApiKey | undefined> {
  const { prepared } = await deps.append<ApiKey | undefined>({
    endsCommit: true,
    prepare: ({ head }) => findApiKey(deps.store, head, keyId),
    decide(_head, { prepared: found, time }) {
      if (found === undefined || found.isRevoked) return [];
      const { tokenHash, position: predecessor } = found;
      const data = { keyId, tokenHash, effectiveAt: time };
      return [{ type: "ApiKeyRevoked", data, predecessor }];
    },
  });
  return prepared;
}

/** Creates a key. The service does not accept the key until its {@linkcode issuedEvent} is in the log. */
function draftApiKey(runtime: Runtime): IssuedApiKey {
  return { id: runtime.newId(), token: newToken(runtime.randomBytes) };
}

/** The event that issues a key. It has the id of the key, so an operator finds it by that id. */
function issuedEvent(
  { id, token }: IssuedApiKey,
  { label, expiresAt, isReadOnly }: ApiKeyTerms,
): NewEvent<EventBody> {
  const data: ApiKeyIssuedData = { keyId: id, label, tokenHash: sha256Hex(token) };
  if (expiresAt !== undefined) data.expiresAt = instantOf(expiresAt);
  if (isReadOnly) data.readOnly = true;
  return { id, type: "ApiKeyIssued", data };
}

/** A time of the log, whose years have four digits. A line with another one would be a fault of the log. */
function instantOf(ms: number): string {
  const text = new Date(ms).toISOString();
  if (isTimeOfLog(text)) return text;
  const message = `The key would end in the year ${parseInt(text)}, which the log cannot hold: ` +
    "check the clock of this machine";
  throw new ServiceError("store_unavailable", message);
}
