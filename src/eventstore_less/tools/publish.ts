import { createPrivateKey, type KeyObject } from "node:crypto";
import { linesOf } from "./lines_of.ts";
import { publishLog } from "./publish_log.ts";
import { readPublished, WritableFolder } from "./published/published_folder.ts";
import { CHECKPOINT_PATH } from "./published/published_log.ts";
import { encodeVerifierKey, isKeyName } from "./published/signed_note.ts";
import { ToolError } from "./tool_error.ts";
import { type Progress, stepOf, type ToolOptions } from "./tool_options.ts";
import type { ExportedLog, ToolStore } from "./tool_store.ts";

export interface PublishOptions extends ToolOptions<Progress<"publish">> {
  /** The private Ed25519 key that signs: as Node has it, or PKCS #8 in PEM. It must not be in the folder. */
  key: KeyObject | string;
  /** The address of the folder, without its scheme: `log.shop.example/bookings`. Needed only the first time. */
  origin?: string;
  /** Whether to publish the lines, too, with all that they reveal. By default, only their hashes. */
  entries?: boolean;
}

export interface PublishReport {
  origin: string;
  /** The key with which outsiders verify, as it is in the file `log.vkey` (https://c2sp.org/signed-note). */
  vkey: string;
  /** Number of events that are published. */
  size: number;
  /** Number of them that are new. */
  added: number;
}

/**
 * Verifies a whole log, and publishes it in a folder as tiles under a signed checkpoint (https://c2sp.org/tlog-tiles), so
 * that outsiders can verify it. Only the folder remembers what was signed: keep it, and never publish another log with the
 * same key and origin. A refused, aborted or killed run leaves what was published before.
 *
 * Rejects with `UnsoundError` if the log has a fault, with `RefusedError` if it does not continue what was published
 * (`published_differs`), and with `ToolError` if an option does not fit (`key_invalid`, `origin_required`,
 * `origin_invalid`, `other_key`, `entries_required`) or another process publishes there (`file_in_use`).
 */
export async function publish(
  log: ToolStore | ExportedLog,
  folder: string,
  options: PublishOptions,
): Promise<PublishReport> {
  const step = stepOf(options);
  const privateKey = privateKeyOf(options.key);
  const name = originFor(folder, options.origin);
  const signer = { privateKey, name };
  using writable = new WritableFolder(folder);
  const [before, size] = await publishLog({
    application: log.application,
    folder: writable,
    readLines: (from) => linesOf(log, from),
    signer,
    entries: options.entries ?? false,
    step,
  });
  return { origin: name, vkey: encodeVerifierKey(signer), size, added: size - before };
}

/** No message contains any of the key. */
function privateKeyOf(key: KeyObject | string): KeyObject {
  try {
    const found = typeof key === "string" ? createPrivateKey(key) : key;
    if (found.type === "private" && found.asymmetricKeyType === "ed25519") return found;
  } catch {
    // The message could contain a part of the key.
  }
  throw new ToolError("key_invalid", "The key is not a private Ed25519 key in PEM");
}

/** The origin of the log: the given one, which cannot change once it is published, or the published one. */
function originFor(folder: string, given: string | undefined): string {
  if (given !== undefined) {
    if (isKeyName(given) && !/:\/\/|\/$/.test(given)) return given;
    throw new ToolError("origin_invalid", "The origin is not an address without its scheme");
  }
  const note = readPublished(folder)(CHECKPOINT_PATH);
  if (note !== undefined) return new TextDecoder().decode(note).split("\n", 1)[0];
  throw new ToolError("origin_required", "The first publication in a folder needs an origin");
}
