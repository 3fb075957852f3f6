/**
 * Serves for development, with reload on change, on the store in `.data/`.
 *
 *     deno task dev
 */

import { readConfig } from "../src/config.ts";
import { issueKey } from "../src/commands/issue_key.ts";
import { revokeKey } from "../src/commands/revoke_key.ts";
import { listKeys } from "../src/projections/key_reader.ts";
import { stateOf } from "../src/api_key.ts";
import { reasonOf } from "../src/report.ts";
import { serve } from "../src/serve.ts";
import type { Service } from "../src/service.ts";

const LABEL = "development (deno task dev)";

/**
 * Where a reload finds the key again: it starts the program anew within the same process. A key is
 * stored nowhere in clear, so each start issues its own, and revokes the one of the start before.
 */
const TOKEN_VARIABLE = "DEV_TOKEN";

try {
  await serve(readConfig(), announce);
} catch (error) {
  console.error(`error: ${reasonOf(error)}`);
  Deno.exit(1);
}

async function announce(service: Service, { port }: Deno.NetAddr): Promise<void> {
  const token = Deno.env.get(TOKEN_VARIABLE) ?? await renewKey(service);
  Deno.env.set(TOKEN_VARIABLE, token);
  const address = `http://localhost:${port}/v1`;
  console.log(`
Animal Store serves at ${address}
Development key: ${token}

  curl -H 'Authorization: Bearer ${token}' ${address}/pets
`);
}

async function renewKey(service: Service): Promise<string> {
  const { head } = await service.heads.fresh();
  for (const key of await listKeys(service.store, head)) {
    const isOld = key.label === LABEL && stateOf(key, service.host.now()) === "live";
    if (isOld) await revokeKey(service, key.id);
  }
  return (await issueKey(service, { label: LABEL })).token;
}
