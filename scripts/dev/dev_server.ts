/** The development server: `deno task dev` runs it, and starts it again after every change. */

import { dirname } from "node:path";
import { ConfigError, readDevConfig } from "../../src/settings/config.ts";
import { exit } from "../../src/life_cycle/exit.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { ApiKeyReader } from "../../src/projections/api_key_reader.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { ListenError, serve } from "../../src/life_cycle/serve.ts";
import type { Service } from "../../src/service.ts";
import { hostName } from "../../src/store/postgres/database_url.ts";
import { OpenStoreError } from "../../src/store/open_store.ts";
import { VARIABLES } from "../../src/settings/variables.ts";
import { type StoreLocation, storeName } from "../../src/store/store_location.ts";
import { EXIT, printError } from "../cli/run_command.ts";

const LABEL = "development (deno task dev)";

try {
  const config = readDevConfig();
  await serve(config, (service, address) => announce(service, address, keyPathOf(config.store)));
} catch (error) {
  // A change of the source cannot correct these errors, so the exit code tells `dev` not to wait for one.
  const isFinal = [ConfigError, ListenError, OpenStoreError].some((it) => error instanceof it);
  if (!isFinal) throw error;
  printError(reasonOf(error));
  exit(EXIT.couldNotRun);
}

async function announce(
  service: Service,
  { hostname, port }: Deno.NetAddr,
  keyPath: string | undefined,
): Promise<void> {
  const token = keyPath === undefined
    ? (await issueKey(service, { label: LABEL })).token
    : await keptToken(service, keyPath);
  // A host name with which this machine reaches the server.
  const host = ["0.0.0.0", "127.0.0.1", "::", "::1"].includes(hostname) ? "localhost" : hostname;
  const address = `http://${hostName({ hostname: host, port })}/v1`;
  console.log(`
Animal Store serves at ${address}
Development key: ${token}

  curl -H 'Authorization: Bearer ${token}' ${address}/pets
`);
}

/** The file of the development key. A store in memory has none, because its key ends with the process. */
function keyPathOf(store: StoreLocation): string | undefined {
  if (store.kind === "attached" || store.kind === "memory") return undefined;
  if (store.kind === "file") return `${store.path}.dev_key`;
  return `${dirname(VARIABLES.KV_PATH.default)}/${encodeURIComponent(storeName(store))}.dev_key`;
}

/** The token in the file if its key is live; otherwise issues a key and writes its token to the file. */
async function keptToken(service: Service, path: string): Promise<string> {
  const kept = (await Deno.readTextFile(path).catch(() => "")).trim();
  if (await isLive(service, kept)) return kept;
  await Deno.mkdir(dirname(path), { recursive: true });
  const { token } = await issueKey(service, { label: LABEL }, async ({ token }) => {
    // Only the owner of the file can read it.
    await Deno.writeTextFile(path, `${token}\n`, { mode: 0o600 });
  });
  return token;
}

async function isLive({ store, heads, runtime }: Service, token: string): Promise<boolean> {
  const { head } = await heads.fresh();
  const keys = new ApiKeyReader(store, runtime);
  return await keys.authorize(token, head, runtime.now()).then(() => true, () => false);
}
