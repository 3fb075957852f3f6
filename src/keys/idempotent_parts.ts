/** One Idempotency-Key for several writes, of which each has its effect once. */

import { ServiceError } from "eventstore-less";
import { type HeadReader, idempotencyHash, usedParts } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import type { WriteDeps, WriteRequest } from "./write_with_key.ts";

export interface IdempotentPartsDeps extends WriteDeps {
  heads: HeadReader;
  store: Store;
}

/** The surroundings in which a write has its effect once for a part of the Idempotency-Key. */
export function withPart<Deps extends WriteDeps>(
  deps: Deps,
  { token, idempotencyKey }: Required<WriteRequest>,
  part: string,
): Deps {
  const idempotency = { key: idempotencyKey, secret: token, part };
  return { ...deps, append: (command) => deps.append({ ...command, idempotency }) };
}

/**
 * Rejects with `invalid_credentials` unless the API key is live, and with `idempotency_key_reused` if its Idempotency-Key
 * was used, but not for one of these parts.
 */
export async function expectUnusedBeside(
  { apiKeys, heads, runtime, store }: IdempotentPartsDeps,
  { token, idempotencyKey }: WriteRequest,
  parts: readonly string[],
): Promise<void> {
  await heads.use(async ({ head }) => {
    const { id: actor } = await apiKeys.authorize(token, head, runtime.now());
    if (idempotencyKey === undefined) return;
    const own = parts.map((part) => idempotencyHash({ key: idempotencyKey, secret: token, part }));
    const use = { actor, idempotencyKey: own[0], timeMs: runtime.now() };
    const used = await usedParts(APPLICATION, store, head, use);
    if (used.every((hash) => own.includes(hash))) return;
    const message = "The Idempotency-Key was sent with another request before; nothing was stored";
    throw new ServiceError("idempotency_key_reused", message);
  });
}
