/** `deno task restore`: restores an export of the log into an empty store. */

import { type FileHandle, open, rm } from "node:fs/promises";
import process from "node:process";
import { makeTempFile } from "this-runtime/temp_file.ts";
import { ConfigError, readStoreConfig } from "../../src/settings/config.ts";
import { type Export, restore, verifyExport } from "./restore.ts";
import { commandName } from "../../src/runtime/command_name.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { expectFolder } from "eventstore-less/store/sqlite/store_file.ts";
import { OpenStoreError } from "eventstore-less/store/open_store.ts";
import { formatCounted } from "../cli/format.ts";
import { openInput } from "../cli/log_source.ts";
import { progressOf } from "../cli/progress.ts";
import { runCommand, say, UsageError, withRetryingStore } from "../cli/run_command.ts";
import { COMMANDS } from "../cli/commands.ts";

const CHUNK_BYTES = 256 * 1024;

let isWriting = false;

await runCommand(COMMANDS.restore, {
  interrupt() {
    const again = `Run ${commandName("restore")} again`;
    if (!isWriting) return `Interrupted. Nothing was written. ${again}.`;
    return `Interrupted. The store is incomplete and refused. ${again} with the same export: it resumes.`;
  },
  async run(_values, [path]) {
    if (path === undefined) {
      throw new UsageError("An export is required: the name of a file, or - for standard input");
    }
    const { store } = readStoreConfig();
    if (store.kind === "memory") {
      throw new ConfigError(
        "KV_PATH must not be :memory:, because the store would end with this command; set it to a new file",
      );
    }
    // Otherwise the whole export would be verified first.
    if (store.kind === "file") {
      await expectFolder(store).catch((error) => {
        throw new OpenStoreError(store, reasonOf(error));
      });
    }
    await using file = await openExport(path);
    await restoreFrom(() => bytesOf(file));
  },
});

async function restoreFrom(source: Export): Promise<void> {
  const start = performance.now();
  const verified = await verifyExport(source, progressOf("Verifying", "events"));
  const { position, lastHash } = verified.head;
  const progress = progressOf("Restoring", "events");
  // The restore itself checks the content of the store.
  await withRetryingStore({ create: true, accept: async () => {} }, (deps) => {
    isWriting = true;
    return restore(deps, source, verified, (done) => progress(done, position));
  });
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  say(
    `Restored ${
      formatCounted(position, "event")
    } in ${seconds} s; the last has the hash ${lastHash}.`,
  );
}

/** Opens the export as a file that can be read twice. Copies an export that can be read only once. */
async function openExport(name: string): Promise<FileHandle> {
  const input = name === "-" ? undefined : await openInput(name);
  if (input !== undefined && (await input.stat()).isFile()) return input;
  const path = await makeTempFile("export-");
  const file = await open(path, "r+");
  // The system keeps the removed file while it is open, and frees it however this command ends.
  await rm(path);
  const source = input?.createReadStream() ?? process.stdin;
  // A plain write may store only a part, for example on a full disk.
  for await (const chunk of source) await file.writeFile(chunk);
  return file;
}

async function* bytesOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let offset = 0;;) {
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, offset);
    if (bytesRead === 0) return;
    yield chunk.slice(0, bytesRead);
    offset += bytesRead;
  }
}
