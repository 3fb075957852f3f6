/**
 * Publishes the log as tiles under a signed checkpoint (https://c2sp.org/tlog-tiles). Only the published folder
 * remembers what was signed, because a store can be an older copy that an audit finds sound.
 */

import { bytesEqual } from "../encoding/bytes_equal.ts";
import { Buffer } from "node:buffer";
import { LogVerifier } from "./verify/log_verifier.ts";
import type { Application } from "../application.ts";
import { EMPTY_ROOT, HASH_BYTES, type TreeHead } from "./published/merkle_tree.ts";
import type { WritableFolder } from "./published/published_folder.ts";
import {
  CHECKPOINT_PATH,
  PublishedComparison,
  readSignature,
  VKEY_PATH,
} from "./published/published_log.ts";
import { RefusedError } from "./refused_error.ts";
import { ToolError } from "./tool_error.ts";
import type { Progress, Step } from "./tool_options.ts";
import {
  encodeVerifierKey,
  openCheckpoint,
  signCheckpoint,
  type SignedCheckpoint,
  type Signer,
} from "./published/signed_note.ts";
import {
  type ReadPublished,
  type Tile,
  TILE_WIDTH,
  tilePath,
  TileTree,
} from "./published/tile_tree.ts";

/** How many new files are collected before they are written together. */
const FILES_TOGETHER = 64;

/** Reads the lines from a position to the last one, in order. */
export type ReadLines = (from: number) => AsyncIterable<Uint8Array[]>;

export interface PublishDeps {
  folder: WritableFolder;
  application: Application;
  readLines: ReadLines;
  signer: Signer;
  /** Whether to publish the lines too, as entry bundles. */
  entries: boolean;
  step?: Step<Progress<"publish">>;
}

/** Verifies the whole log, and publishes what is new. Resolves to the numbers of events. Rejects with `RefusedError`. */
export async function publishLog(deps: PublishDeps): Promise<[before: number, now: number]> {
  const { folder, signer, entries } = deps;
  const vkey = encodeVerifierKey(signer);
  const previous = readPrevious(folder.read, vkey);
  expectEntries(folder.read, previous.size, entries);
  const tiles = new NewTiles(folder, entries);
  const head = await stageTiles(deps, previous, tiles);
  await folder.publishStaged();
  // Without new events, the old checkpoint stays: others may have cosigned it.
  if (head.size !== previous.size) {
    await replaceFile(folder, CHECKPOINT_PATH, signCheckpoint(head, signer).note);
  }
  // Written after the checkpoint, so a folder with this file has had a checkpoint.
  if (folder.read(VKEY_PATH) === undefined) await replaceFile(folder, VKEY_PATH, `${vkey}\n`);
  // Readers use the full tile instead of the partial ones.
  for (const path of tiles.full) folder.remove(`${path}.p`);
  return [previous.size, head.size];
}

/** Throws if earlier lines were published as entries, and the new ones would not be. */
function expectEntries(read: ReadPublished, previousSize: number, entries: boolean): void {
  const firstBundle = tilePath("entries", 0, Math.min(previousSize, TILE_WIDTH));
  const isBundled = read(firstBundle) !== undefined;
  if (isBundled && !entries) {
    throw new ToolError(
      "entries_required",
      "The folder has entry bundles, so the new entries must be published, too",
    );
  }
}

/** Verifies the log, compares it with what was published, and stages the new tiles. Resolves to the head of its tree. */
async function stageTiles(
  { application, folder, readLines, step }: PublishDeps,
  previous: SignedCheckpoint,
  tiles: NewTiles,
): Promise<TreeHead> {
  const published = new TileTree(folder.read, previous.size);
  const comparison = new PublishedComparison(previous, published);
  const { builder } = comparison;
  const verifier = new LogVerifier(application);
  for await (const lines of readLines(1)) {
    for (const line of lines) {
      const full = comparison.verify(line);
      tiles.addLine(line, full);
      verifier.expectSound(line);
    }
    step?.({ phase: "publish", done: builder.size });
    if (tiles.count >= FILES_TOGETHER) await tiles.stage();
  }
  comparison.end();
  if (builder.size === 0) throw new RefusedError("log_empty", "The log has no events");
  tiles.addTiles(builder.partialTiles());
  await tiles.stage();
  return { size: builder.size, root: builder.root() };
}

async function replaceFile(folder: WritableFolder, path: string, text: string): Promise<void> {
  await folder.stage([[path, new TextEncoder().encode(text)]]);
  await folder.publishStaged();
}

/** The last checkpoint of the folder; that of an empty log before the first one. */
function readPrevious(read: ReadPublished, vkey: string): SignedCheckpoint {
  const { vkey: publishedVkey, note } = readSignature(read);
  if (publishedVkey !== undefined && publishedVkey.trim() !== vkey) {
    throw new ToolError(
      "other_key",
      `The folder was published with another key or origin: ${publishedVkey.trim()}`,
    );
  }
  if (note !== undefined) return openCheckpoint(note, vkey, "The published checkpoint");
  if (publishedVkey === undefined) return { size: 0, root: EMPTY_ROOT, note: "" };
  throw new RefusedError(
    "published_damaged",
    `The published folder lacks its ${CHECKPOINT_PATH}; copy it back`,
  );
}

/** The tiles that are not published yet, and the bundles of their lines. */
class NewTiles {
  /** Paths of the new tiles and bundles that are full. */
  readonly full: string[] = [];
  #folder: WritableFolder;
  #hasEntries: boolean;
  /** The lines of the next tile of level 0. */
  #lines: Uint8Array[] = [];
  /** The files that are not staged yet. */
  #files: [path: string, content: Uint8Array][] = [];

  constructor(folder: WritableFolder, hasEntries: boolean) {
    this.#folder = folder;
    this.#hasEntries = hasEntries;
  }

  /** Number of files that are not staged yet. */
  get count(): number {
    return this.#files.length;
  }

  /** Adds a line, and then the tiles that are full with it. */
  addLine(line: Uint8Array, full: Tile[]): void {
    this.#lines.push(line);
    this.addTiles(full);
  }

  addTiles(tiles: Tile[]): void {
    for (const tile of tiles) this.#addTile(tile);
  }

  #addTile({ level, index, hashes }: Tile): void {
    const width = hashes.length / HASH_BYTES;
    this.#addFile(tilePath(level, index, width), hashes, width);
    if (level > 0) return;
    const bundle = bundleOf(this.#lines);
    this.#lines = [];
    if (this.#hasEntries) this.#addFile(tilePath("entries", index, width), bundle, width);
  }

  #addFile(path: string, content: Uint8Array, width: number): void {
    const isPublished = bytesEqual(this.#folder.read(path), content);
    if (isPublished) return;
    this.#files.push([path, content]);
    if (width === TILE_WIDTH) this.full.push(path);
  }

  async stage(): Promise<void> {
    const files = this.#files;
    this.#files = [];
    await this.#folder.stage(files);
  }
}

/** Each line after its length in two bytes, the higher one first. */
function bundleOf(lines: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(
    lines.flatMap((line) => [Uint8Array.of(line.length >> 8, line.length & 0xff), line]),
  );
}
