import { OPERATOR } from "../../events/event.ts";
import type { ApiKey } from "../log/api_keys.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Appender } from "../append/appender.ts";
import { listApiKeys } from "../projections/api_key_reader.ts";
import type { Store } from "../store/store.ts";

/**
 * Revokes an API key immediately. Resolves to the key as it was before, or to `undefined` if no key has that
 * id. If the key was already revoked immediately, no second event is added.
 */
export async function revokeKey(
  { appender, runtime, store }: { appender: Appender; runtime: Runtime; store: Store },
  keyId: string,
): Promise<ApiKey | undefined> {
  let found: ApiKey | undefined;
  const id = runtime.newId();
  const time = new Date(runtime.now()).toISOString();
  await appender.append({
    async prepare({ head }) {
      found = (await listApiKeys(store, head)).find(({ id }) => id === keyId);
    },
    decide() {
      if (found === undefined || found.isRevoked) return [];
      const data = { keyId, tokenHash: found.tokenHash, effectiveAt: time };
      return [{ id, time, actor: OPERATOR, type: "ApiKeyRevoked", data }];
    },
  });
  return found;
}
