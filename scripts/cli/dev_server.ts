/** The development server: `deno task dev` runs it, and restarts it on every change. */

import { readServiceConfig } from "../../src/config.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { revokeKey } from "../../src/commands/revoke_key.ts";
import { listKeys } from "../../src/projections/key_reader.ts";
import { stateOf } from "../../src/projections/api_key.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { serve } from "../../src/serve.ts";
import type { Service } from "../../src/service.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";

const LABEL = "development (deno task dev)";

/**
 * Environment variable that keeps the key across reloads, because a reload restarts the program within the
 * same process. Keys are not stored in clear text, so each new process issues a key and revokes the previous
 * one.
 */
const TOKEN_VARIABLE = "DEV_TOKEN";

try {
  await serve(readServiceConfig(), announce);
} catch (error) {
  console.error(`error: ${reasonOf(error)}`);
  Deno.exit(1);
}

async function announce(service: Service, { hostname, port }: Deno.NetAddr): Promise<void> {
  const token = await liveToken(service, Deno.env.get(TOKEN_VARIABLE)) ?? await renewKey(service);
  Deno.env.set(TOKEN_VARIABLE, token);
  const address = `http://${hostOf(hostname)}:${port}/v1`;
  console.log(`
Animal Store serves at ${address}
Development key: ${token}

  curl -H 'Authorization: Bearer ${token}' ${address}/pets
`);
}

/** A host name with which this machine reaches a server that listens at `hostname`. */
function hostOf(hostname: string): string {
  if (["0.0.0.0", "127.0.0.1", "::", "::1"].includes(hostname)) return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** The token if its key is live; `undefined` if it is not, or if the key was lost with an in-memory store. */
async function liveToken(
  { store, heads, runtime }: Service,
  token: string | undefined,
): Promise<string | undefined> {
  if (token === undefined) return undefined;
  const { head } = await heads.fresh();
  const tokenHash = sha256Hex(token);
  const key = (await listKeys(store, head)).find((it) => it.tokenHash === tokenHash);
  return key !== undefined && stateOf(key, runtime.now()) === "live" ? token : undefined;
}

async function renewKey(service: Service): Promise<string> {
  const { head } = await service.heads.fresh();
  for (const key of await listKeys(service.store, head)) {
    const isOld = key.label === LABEL && stateOf(key, service.runtime.now()) === "live";
    if (isOld) await revokeKey(service, key.id);
  }
  return (await issueKey(service, { label: LABEL })).token;
}
