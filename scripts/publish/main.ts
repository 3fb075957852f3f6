import { APPLICATION } from "../../src/application.ts";
import {
  CHECKPOINT_PATH,
  encodeVerifierKey,
  formatCounted,
  isKeyName,
  publishLog,
  readPublished,
  realPath,
  WritableFolder,
} from "eventstore-less/tools";
import { LogDamagedError } from "eventstore-less";
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { type ReadLines, withLog } from "../cli/log_source.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { progressOf } from "../cli/progress.ts";
import { runCommand, say, UsageError } from "../cli/run_command.ts";
import { COMMANDS, type FlagValues } from "../cli/commands.ts";

type Flags = FlagValues<typeof COMMANDS.publish>;

await runCommand(COMMANDS.publish, {
  refusals: [LogDamagedError],
  interrupt: () =>
    "Interrupted. What was published before is still complete. Run the same command again.",
  async run(flags, [name]) {
    const dir = name && realPath(name);
    if (flags["new-key"] !== undefined) return await makeKey(flags["new-key"], dir);
    if (!dir) throw new UsageError("A folder is required, in which the log is published");
    if (!flags.key) throw new UsageError("--key is required; --new-key makes one");
    await publish(dir, realPath(flags.key), flags);
  },
});

/** Makes an Ed25519 key, in PKCS #8 PEM, in a new file that only its owner can read. */
async function makeKey(path: string, dir: string | undefined): Promise<void> {
  expectSecret(path, dir);
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await writeFile(path, pem, { flag: "wx", mode: 0o600 }).catch((error) => {
    if (error.code !== "EEXIST") throw error;
    throw new Error(`${path} exists already; a key is never overwritten`);
  });
  say(`Made the key ${path}. Keep a copy of it offline, and let no other system use it.`);
}

async function publish(dir: string, keyPath: string, flags: Flags): Promise<void> {
  const { entries = false } = flags;
  expectSecret(keyPath, dir);
  const privateKey = await readSigningKey(keyPath);
  const name = originFor(dir, flags.origin);
  const signer = { privateKey, name };
  using folder = new WritableFolder(dir);
  const progress = progressOf("Publishing", "events");
  const options = { folder, signer, entries, progress };
  const publishing = (readLines: ReadLines) =>
    publishLog({ application: APPLICATION, ...options, readLines });
  const [before, now] = await withLog(flags["from-file"], publishing);
  const news = now === before
    ? "Nothing is new"
    : `Published ${formatCounted(now - before, "new event")}`;
  say(`${news}: the published log of ${signer.name} has ${formatCounted(now, "event")}.`);
  if (before === 0) say(`Outsiders verify with this key: ${encodeVerifierKey(signer)}`);
}

/** The origin of the log: the given one, which cannot change once it is published, or the published one. */
function originFor(dir: string, given: string | undefined): string {
  if (given !== undefined) {
    if (isKeyName(given) && !/:\/\/|\/$/.test(given)) return given;
    throw new UsageError("--origin takes an address without its scheme: log.shop.example/log");
  }
  const note = readPublished(dir)(CHECKPOINT_PATH);
  if (note !== undefined) return new TextDecoder().decode(note).split("\n", 1)[0];
  throw new UsageError("--origin is required the first time: the address where DIR is published");
}

/** Throws if the key is in a folder that is published, or that is backed up or copied with the store. */
function expectSecret(keyPath: string, dir: string | undefined): void {
  if (dir !== undefined && isInside(keyPath, dir)) {
    throw new UsageError("The key must not be in the folder that is published");
  }
  const store = configuredStore();
  if (store.kind !== "file") return;
  if (isInside(keyPath, dirname(store.path))) {
    throw new UsageError("The key must not be in the folder of the store (KV_PATH), nor below it");
  }
  if (dir !== undefined && isInside(store.path, dir)) {
    throw new UsageError("The store (KV_PATH) must not be in the folder that is published");
  }
}

function isInside(path: string, folder: string): boolean {
  const way = relative(realPath(folder), realPath(path));
  return way !== ".." && !way.startsWith("../");
}

/** No message contains any of the key. */
async function readSigningKey(path: string): Promise<KeyObject> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    throw new Error(`Others can read the key ${path}; run chmod 600 ${path}`);
  }
  const pem = await readFile(path, "utf8");
  try {
    const key = createPrivateKey(pem);
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // The message could contain a part of the file.
  }
  throw new Error(`${path} is not an Ed25519 key in PEM, as publish --new-key makes it`);
}
