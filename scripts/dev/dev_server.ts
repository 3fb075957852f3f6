/** The development server: `deno task dev` runs it, and starts it again after every change. */

import { ConfigError, readDevConfig } from "../../src/settings/config.ts";
import { exit } from "../../src/life_cycle/exit.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { listApiKeys } from "../../src/projections/api_key_reader.ts";
import { stateOf } from "../../src/log/api_keys.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { ListenError, serve } from "../../src/life_cycle/serve.ts";
import type { Service } from "../../src/service.ts";
import { OpenStoreError } from "../../src/store/open_store.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { devKeyPath } from "./dev_key_path.ts";
import { EXIT, printError } from "../cli/run_command.ts";

const LABEL = "development (deno task dev)";

try {
  const config = readDevConfig();
  await serve(config, (service, address) => announce(service, address, devKeyPath(config.store)));
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

/**
 * The token in the file if its key is live; otherwise issues a key and writes its token to the file. Only the
 * owner of the file can read it.
 */
async function keptToken(service: Service, path: string): Promise<string> {
  await Deno.mkdir(path.replace(/[^/]*$/, "") || ".", { recursive: true });
  using file = await Deno.open(path, { read: true, write: true, create: true, mode: 0o600 });
  // Several `deno task dev` on one store share its key, and may start at the same time.
  await file.lock(true);
  const bytes = new Uint8Array(100);
  const length = await file.read(bytes) ?? 0;
  const kept = new TextDecoder().decode(bytes.subarray(0, length)).trim();
  if (await isLive(service, kept)) return kept;
  const { token } = await issueKey(service, { label: LABEL }, async ({ token }) => {
    await file.truncate();
    await file.seek(0, Deno.SeekMode.Start);
    await file.write(new TextEncoder().encode(`${token}\n`));
  });
  return token;
}

async function isLive({ store, heads, runtime }: Service, token: string): Promise<boolean> {
  const { head } = await heads.fresh();
  const tokenHash = sha256Hex(token);
  const key = (await listApiKeys(store, head)).find((it) => it.tokenHash === tokenHash);
  return key !== undefined && stateOf(key, runtime.now()) === "live";
}
