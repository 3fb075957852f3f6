/** The development server: `deno task dev` runs it, and starts it again after every change. */

import { OpenStoreError } from "eventstore-less";
import {
  hostName,
  locateStore,
  reasonOf,
  type StoreLocation,
  storeName,
} from "eventstore-less/startup";
import { isMissingFile } from "eventstore-less/store";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { randomBytes } from "node:crypto";
import { basename, dirname } from "node:path";
import process from "node:process";
import { PET_STATUSES } from "../../events/pet.ts";
import { callCommandsBy, commandName } from "../../src/runtime/words.ts";
import {
  type Address,
  ConfigError,
  ListenError,
  readDevConfig,
} from "../../src/settings/config.ts";
import { exitAfterLog } from "../../src/life_cycle/exit.ts";
import { endWithParent } from "../../src/life_cycle/parent.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { ApiKeyReader } from "../../src/keys/api_key_reader.ts";
import { serve } from "../../src/life_cycle/serve.ts";
import type { Service } from "../../src/service.ts";
import { VARIABLES } from "../../src/settings/variables.ts";
import { WEBHOOK_KEY_BYTES, WebhookKeys } from "../../src/webhooks/secrets.ts";
import { EXIT, printError } from "../cli/run_command.ts";
import { findPort } from "../cli/find_port.ts";
import type { DevFlags } from "./command.ts";

const LABEL = `development (${commandName("dev")})`;

/** Number of sample pets that are added at once. */
const WAVE = 500;

const { reset, seed = "0" }: DevFlags = JSON.parse(process.argv[2]);

endWithParent();
callCommandsBy(undefined);

try {
  const config = readDevConfig();
  const store = locateStore(config.store);
  if (reset && store.kind === "file" && !await isMissingFile(store)) {
    // Throws if a service may be using the store, because its address is in use.
    await findPort(config);
    await moveAway(store.path);
  }
  const { webhookKeys = await keptWebhookKeys(webhookKeyPathOf(store)) } = config;
  await serve({ ...config, store, webhookKeys }, async (service, address) => {
    const token = await keptToken(service, keyPathOf(store));
    const origin = originOf(address);
    await addSamples(origin, token, Number(seed));
    announce(origin, token);
  });
} catch (error) {
  if ((error as Error).name === "NotCapable") {
    const [access] = reasonOf(error).split(", which");
    printError(`${access}: add it to "permissions" in deno.json`);
    await exitAfterLog(EXIT.refused);
  }
  // A change of the source cannot correct these errors, so the exit code tells `dev` not to wait for one.
  const isFinal = [ConfigError, ListenError, OpenStoreError].some((it) => error instanceof it);
  if (!isFinal) throw error;
  const reason = reasonOf(error);
  printError(reason);
  // The source may be an older version for a moment, after a `git checkout`.
  const isNewer = reason.includes("the newer ");
  await exitAfterLog(isNewer ? EXIT.refused : EXIT.couldNotRun);
}

/** Moves a store and its development key into a new folder next to it. */
async function moveAway(path: string): Promise<void> {
  const from = dirname(path);
  const to = `${from}/before_${new Date().toISOString().replaceAll(":", "-")}`;
  await mkdir(to);
  for (const name of await readdir(from)) {
    if (name.startsWith(basename(path))) await rename(`${from}/${name}`, `${to}/${name}`);
  }
  console.error(`Moved the old store to ${to}`);
}

async function addSamples(origin: string, token: string, count: number): Promise<void> {
  const headers = { "authorization": `Bearer ${token}`, "content-type": "application/json" };
  const add = async (number: number) => {
    const status = PET_STATUSES[number % PET_STATUSES.length];
    const body = JSON.stringify({ name: `Sample ${number}`, categoryId: number % 10, status });
    const response = await fetch(`${origin}/v1/pets`, { method: "POST", headers, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`No sample pet was added: ${text}`);
  };
  for (let number = 1; number <= count; number += WAVE) {
    const size = Math.min(WAVE, count - number + 1);
    await Promise.all(Array.from({ length: size }, (_, index) => add(number + index)));
  }
}

/** The address with which this machine reaches the server. */
function originOf({ hostname, port }: Address): string {
  const host = ["0.0.0.0", "127.0.0.1", "::", "::1"].includes(hostname) ? "localhost" : hostname;
  return `http://${hostName({ hostname: host, port })}`;
}

function announce(origin: string, token: string): void {
  const address = `${origin}/v1`;
  console.log(`
Animal Store serves at ${address}
Development key: ${token}

  ${origin}/window#key=${token}

  curl -H 'Authorization: Bearer ${token}' ${address}/pets
`);
}

/** The file of the development key. A store in memory has none, because its key ends with the process. */
function keyPathOf(store: StoreLocation): string | undefined {
  return pathNextTo(store, "dev_key");
}

/** The file of the key for the secrets of webhooks. */
function webhookKeyPathOf(store: StoreLocation): string | undefined {
  return pathNextTo(store, "dev_webhook_key");
}

function pathNextTo(store: StoreLocation, ending: string): string | undefined {
  if (store.kind === "attached" || store.kind === "memory") return undefined;
  if (store.kind === "file") return `${store.path}.${ending}`;
  const name = encodeURIComponent(storeName(store));
  return `${dirname(VARIABLES.KV_PATH.default)}/${name}.${ending}`;
}

/** The key in the file; otherwise makes one and writes it to the file, so that webhooks work at once. */
async function keptWebhookKeys(path: string | undefined): Promise<WebhookKeys> {
  const kept = path === undefined ? "" : await readFile(path, "utf8").catch(() => "");
  const known = WebhookKeys.parse(kept.trim());
  if (known !== undefined) return known;
  const text = randomBytes(WEBHOOK_KEY_BYTES).toString("base64");
  if (path !== undefined) await writePrivate(path, text);
  return WebhookKeys.parse(text)!;
}

/** Only the owner of the file can read it. */
async function writePrivate(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${text}\n`, { mode: 0o600 });
}

/** The token in the file if its key is live; otherwise issues a key and writes its token to the file. */
async function keptToken(service: Service, path: string | undefined): Promise<string> {
  if (path !== undefined) {
    const kept = (await readFile(path, "utf8").catch(() => "")).trim();
    if (await isLive(service, kept)) return kept;
  }
  const { token } = await issueApiKey(service, { label: LABEL }, async ({ token }) => {
    if (path !== undefined) await writePrivate(path, token);
  });
  return token;
}

async function isLive({ store, heads, runtime }: Service, token: string): Promise<boolean> {
  const { head } = await heads.fresh();
  const apiKeys = new ApiKeyReader(store, runtime);
  const authorize = async () => await apiKeys.authorize(token, head, runtime.now());
  return await authorize().then(() => true, () => false);
}
