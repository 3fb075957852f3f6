/**
 * Records of an application outside of the log, for example the last calls of a receiver. No export has them, and nothing
 * that clients rely on may follow from them: one that is damaged counts as missing.
 */

import { decodeJson, encodeJson } from "./encoding/json.ts";
import { unloggedKey } from "./keyspace.ts";
import { backoffMs, type Runtime, sleep } from "./runtime/runtime.ts";
import { ServiceError } from "./service_error.ts";
import { checkedContent, CHECKSUM_BYTES, withChecksum } from "./store/checksum.ts";
import { commitUntilKnown } from "./store/commit_until_known.ts";
import { type Commit, type Mutation, type Store, VALUE_BYTES_LIMIT } from "./store/store.ts";

/** How long a change is tried, in milliseconds, for example while the store is locked. */
const CHANGE_LIMIT_MS = 2_000;

/** The name of a record: its kind, and its id in the kind. */
export type UnloggedName = readonly [kind: string, id: string];

/** The content of a record, decoded from JSON; `undefined` if there is none, or if it is damaged. */
export async function readUnlogged(
  store: Pick<Store, "get">,
  name: UnloggedName,
): Promise<unknown> {
  const entry = await store.get(unloggedKey(...name));
  const content = entry === null ? undefined : checkedContent(entry);
  return content === undefined ? undefined : decodeJson(content);
}

/**
 * Replaces a record by what `next` makes of its content; `undefined` removes it. `next` is called again if another change
 * came first. Rejects with `store_unavailable` if the store took no change in two seconds, and with `RangeError` if the
 * content does not fit into a value of every store.
 */
export async function changeUnlogged(
  { store, runtime }: { store: Store; runtime: Runtime },
  name: UnloggedName,
  next: (content: unknown) => unknown,
): Promise<void> {
  const key = unloggedKey(...name);
  const deadline = runtime.monotonicNow() + CHANGE_LIMIT_MS;
  const isOver = () => runtime.monotonicNow() >= deadline;
  for (let attempt = 0; !isOver(); attempt++) {
    const entry = await store.get(key);
    const content = entry === null ? undefined : checkedContent(entry);
    const former = content === undefined ? undefined : decodeJson(content);
    const guard = { key, versionstamp: entry?.versionstamp ?? null };
    const commit: Commit = { guard, mutations: [mutationOf(name, next(former))] };
    const outcome = await commitUntilKnown(runtime, {
      guard: guard.versionstamp,
      commit: () => store.commit(commit),
      readGuard: () => store.get(key),
      // A change that landed without an answer is made twice, which does no harm.
      hasLanded: () => false,
      isOver,
    });
    if (outcome.state === "landed") return;
    if (outcome.state === "refused") break;
    await sleep(runtime, backoffMs(runtime, attempt));
  }
  throw new ServiceError("store_unavailable", `The record ${name.join("/")} could not be changed`);
}

function mutationOf(name: UnloggedName, content: unknown): Mutation {
  const key = unloggedKey(...name);
  if (content === undefined) return { type: "delete", key };
  const json = encodeJson(content);
  if (json.length + CHECKSUM_BYTES > VALUE_BYTES_LIMIT) {
    throw new RangeError(`The record ${name.join("/")} is too large`);
  }
  return { type: "set", key, value: withChecksum(key, json).slice() };
}
