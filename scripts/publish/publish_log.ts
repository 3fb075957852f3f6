/**
 * Publishes the log as tiles under a signed checkpoint (https://c2sp.org/tlog-tiles). Only the published folder
 * remembers what was signed, because a store can be an older copy that an audit finds sound.
 */

import { Buffer } from "node:buffer";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { LogVerifier } from "../verify/log_verifier.ts";
import type { ReadLines } from "../cli/log_source.ts";
import { EMPTY_ROOT, HASH_BYTES } from "../published/merkle_tree.ts";
import type { WritableFolder } from "../published/published_folder.ts";
import {
  CHECKPOINT_PATH,
  PublishedComparison,
  readSignature,
  VKEY_PATH,
} from "../published/published_log.ts";
import { RefusedError } from "../cli/refused_error.ts";
import {
  encodeVerifierKey,
  openCheckpoint,
  signCheckpoint,
  type SignedCheckpoint,
  type Signer,
} from "../published/signed_note.ts";
import {
  type ReadPublished,
  type Tile,
  TILE_WIDTH,
  tilePath,
  TileTree,
} from "../published/tile_tree.ts";

/** How many new files are collected before they are written together. */
const FILES_TOGETHER = 64;

export interface PublishOptions {
  folder: WritableFolder;
  readLines: ReadLines;
  signer: Signer;
  /** Whether to publish the lines too, as entry bundles. */
  entries: boolean;
  progress?: (verified: number) => void;
}

/** Verifies the whole log, and publishes what is new. Resolves to the numbers of events. Rejects with `RefusedError`. */
export async function publishLog(options: PublishOptions): Promise<[before: number, now: number]> {
  const { folder, readLines, signer, entries } = options;
  const vkey = encodeVerifierKey(signer);
  const previous = readPrevious(folder.read, vkey);
  const { size: previousSize } = previous;
  const isBundled = folder.read(tilePath("entries", 0, Math.min(previousSize, TILE_WIDTH)));
  if (isBundled && !entries) {
    throw new Error("The folder has entry bundles, so --entries must add the new ones");
  }
  const tiles = collectTiles(folder, entries);
  const published = new TileTree(folder.read, previousSize);
  const comparison = new PublishedComparison(previous, published, (tile) => tiles.add(tile));
  const { builder } = comparison;
  const verifier = new LogVerifier();
  for await (const lines of readLines(1)) {
    for (const line of lines) {
      tiles.lines.push(line);
      comparison.verify(line);
      const faults = verifier.verify(line).faults.join("; ");
      if (faults) throw new RefusedError(`Line ${builder.size}: ${faults}. Run deno task audit`);
    }
    options.progress?.(builder.size);
    await tiles.stage(FILES_TOGETHER);
  }
  comparison.end();
  if (builder.size === 0) throw new RefusedError("The log has no events");
  for (const tile of builder.partialTiles()) tiles.add(tile);
  await tiles.stage();
  const head = { size: builder.size, root: builder.root() };
  await folder.publishStaged();
  const replace = async (path: string, text: string) => {
    await folder.stage([[path, new TextEncoder().encode(text)]]);
    await folder.publishStaged();
  };
  // Without new events, the old checkpoint stays: others may have cosigned it.
  if (head.size !== previousSize) {
    await replace(CHECKPOINT_PATH, signCheckpoint(head, signer).note);
  }
  // Written after the checkpoint, so a folder with this file has had a checkpoint.
  if (folder.read(VKEY_PATH) === undefined) await replace(VKEY_PATH, `${vkey}\n`);
  // Readers use the full tile instead of the partial ones.
  for (const path of tiles.full) folder.remove(`${path}.p`);
  return [previousSize, head.size];
}

/** The last checkpoint of the folder; that of an empty log before the first one. */
function readPrevious(read: ReadPublished, vkey: string): SignedCheckpoint {
  const { vkey: publishedVkey, note } = readSignature(read);
  if (publishedVkey !== undefined && publishedVkey.trim() !== vkey) {
    throw new Error(`The folder was published with another key or origin: ${publishedVkey.trim()}`);
  }
  if (note !== undefined) return openCheckpoint(note, vkey, "The published checkpoint");
  if (publishedVkey === undefined) return { size: 0, root: EMPTY_ROOT, note: "" };
  throw new RefusedError(`The published folder lacks its ${CHECKPOINT_PATH}; copy it back`);
}

/** Collects the tiles that are not published yet, and their bundles: each line after its length in two bytes. */
function collectTiles(folder: WritableFolder, hasEntries: boolean) {
  /** The lines of the next tile of level 0. */
  const lines: Uint8Array[] = [];
  /** Paths of the new tiles and bundles that are full. */
  const full: string[] = [];
  const files: [path: string, content: Uint8Array][] = [];
  const add = ({ level, index, hashes }: Tile) => {
    const width = hashes.length / HASH_BYTES;
    const addFile = (kind: number | "entries", content: Uint8Array) => {
      const path = tilePath(kind, index, width);
      if (bytesEqual(folder.read(path), content)) return;
      files.push([path, content]);
      if (width === TILE_WIDTH) full.push(path);
    };
    addFile(level, hashes);
    if (level > 0) return;
    const entries = lines.splice(0)
      .flatMap((line) => [Uint8Array.of(line.length >> 8, line.length & 0xff), line]);
    if (hasEntries) addFile("entries", Buffer.concat(entries));
  };
  const stage = async (atLeast = 0) => {
    if (files.length >= atLeast) await folder.stage(files.splice(0));
  };
  return { lines, full, add, stage };
}
