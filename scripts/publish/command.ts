import { LogDamagedError } from "eventstore-less";
import { publish, realPath, ToolError, UnsoundError } from "eventstore-less/tools";
import { commandName } from "../../src/runtime/words.ts";
import { generateKeyPairSync } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { dirname, relative } from "node:path";
import { configuredStore } from "../cli/configured_store.ts";
import { formatCounted } from "../cli/format.ts";
import { withLog } from "../cli/log_source.ts";
import { progressOf } from "../cli/progress.ts";
import { UsageError } from "../cli/table_entry.ts";
import { operatorCommand, say } from "../cli/run_command.ts";

interface Flags {
  "new-key"?: string;
  "key"?: string;
  "origin"?: string;
  "entries"?: boolean;
  "file"?: string;
}

export const command = operatorCommand<Flags>({
  refusals: [LogDamagedError],
  adviceOn: (error) => error instanceof UnsoundError ? `. Run ${commandName("audit")}` : "",
  interrupt: () =>
    "Interrupted. What was published before is still complete. Run the same command again.",
  async run(flags, [name]) {
    const dir = name && realPath(name);
    if (flags["new-key"] !== undefined) return await makeKey(flags["new-key"], dir);
    if (!dir) throw new UsageError("A folder is required, in which the log is published");
    if (!flags.key) throw new UsageError("--key is required; --new-key makes one");
    await publishLog(dir, realPath(flags.key), flags);
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

async function publishLog(dir: string, keyPath: string, flags: Flags): Promise<void> {
  expectSecret(keyPath, dir);
  const key = await readSigningKey(keyPath);
  const showPublishing = progressOf("Publishing", "events");
  const { entries, origin: given } = flags;
  const { origin, vkey, size, added } = await withLog(flags["file"], (log) => {
    return publish(log, dir, {
      key,
      origin: given,
      entries,
      onProgress: ({ done }) => showPublishing(done),
    });
  }).catch((error) => {
    throw inWordsOfFlags(error, keyPath);
  });
  const news = added === 0 ? "Nothing is new" : `Published ${formatCounted(added, "new event")}`;
  say(`${news}: the published log of ${origin} has ${formatCounted(size, "event")}.`);
  if (added === size) say(`Outsiders verify with this key: ${vkey}`);
}

/** The error about an option, in words of the flag that sets it. */
function inWordsOfFlags(error: unknown, keyPath: string): unknown {
  if (!(error instanceof ToolError)) return error;
  switch (error.code) {
    case "key_invalid":
      return new Error(`${keyPath} is not an Ed25519 key in PEM, as publish --new-key makes it`);
    case "origin_invalid":
      return new UsageError("--origin takes an address without its scheme: log.shop.example/log");
    case "origin_required":
      return new UsageError(
        "--origin is required the first time: the address where DIR is published",
      );
    case "entries_required":
      return new Error("The folder has entry bundles, so --entries must add the new ones");
    default:
      return error;
  }
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

/** The text of the key. */
async function readSigningKey(path: string): Promise<string> {
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    throw new Error(`Others can read the key ${path}; run chmod 600 ${path}`);
  }
  return await readFile(path, "utf8");
}
