/**
 * Publishes the log as tiles under a signed checkpoint (https://c2sp.org/tlog-tiles). Only the published folder
 * remembers what was signed, because a store can be an older copy that an audit finds sound.
 */

import { Buffer } from "node:buffer";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { LogVerifier } from "../../src/log/log_verifier.ts";
import type { ReadLines } from "../cli/log_source.ts";
import { EMPTY_ROOT, HASH_BYTES, leafHash, type TreeHead } from "./merkle_tree.ts";
import type { PublishedFile, WritableFolder } from "./published_folder.ts";
import { CHECKPOINT_PATH, expectPublished, OTHER_ROOT, VKEY_PATH } from "./published_log.ts";
import { RefusedError } from "../cli/refused_error.ts";
import {
  decodeVerifierKey,
  encodeVerifierKey,
  openCheckpoint,
  signCheckpoint,
  type SignedCheckpoint,
  type Signer,
  type VerifierKey,
} from "./signed_note.ts";
import {
  type ReadPublished,
  type Tile,
  TILE_WIDTH,
  TileBuilder,
  tilePath,
  TileTree,
} from "./tile_tree.ts";
import { requestCosignature } from "./witness.ts";

/** How many new files are collected before they are written together. */
const FILES_TOGETHER = 64;

export interface PublishOptions {
  folder: WritableFolder;
  readLines: ReadLines;
  signer: Signer;
  /** Whether to publish the lines too, as entry bundles. */
  entries: boolean;
  /** Addresses of the witnesses that must cosign the checkpoint. */
  witnesses?: readonly string[];
  /** The keys by which cosignatures count; without keys, all are kept unverified. */
  witnessKeys?: readonly VerifierKey[];
  /** Called with the number of events that were verified. */
  progress?: (done: number) => void;
}

/**
 * Verifies the whole log, as an audit does, and publishes what is new. Resolves to the numbers of published events.
 * Rejects with `RefusedError`.
 */
export async function publishLog(options: PublishOptions): Promise<[before: number, now: number]> {
  const { folder, readLines, signer, entries, witnesses = [], witnessKeys = [] } = options;
  const vkey = encodeVerifierKey(signer);
  const previous = readPrevious(folder.read, vkey);
  const previousSize = previous?.size ?? 0;
  const publication = new Publication(folder.read, previous, entries);
  const { files, fullTiles } = publication;
  for await (const lines of readLines(1)) {
    for (const line of lines) publication.add(line);
    options.progress?.(publication.position);
    if (files.length >= FILES_TOGETHER) await folder.stage(files.splice(0));
  }
  const head = publication.end();
  await folder.stage(files.splice(0));
  const isNew = head.size !== previousSize || witnesses.length > 0;
  let checkpoint = isNew ? signCheckpoint(head, signer) : previous!;
  const tree = new TileTree(folder.read, head.size);
  for (const url of witnesses) {
    checkpoint = await requestCosignature(url, witnessKeys, checkpoint, tree, previousSize);
  }
  await folder.publishStaged();
  const replace = async (path: string, text: string) => {
    await folder.stage([{ path, content: new TextEncoder().encode(text) }]);
    await folder.publishStaged();
  };
  if (checkpoint.note !== previous?.note) await replace(CHECKPOINT_PATH, checkpoint.note);
  // Written after the checkpoint, so a folder with this file has had a checkpoint.
  if (folder.read(VKEY_PATH) === undefined) await replace(VKEY_PATH, `${vkey}\n`);
  // Readers use the full tile instead of the partial ones.
  for (const path of fullTiles) await folder.removeFolder(`${path}.p`);
  return [previousSize, head.size];
}

/** The last checkpoint of the folder; `undefined` before the first one. */
function readPrevious(read: ReadPublished, vkey: string): SignedCheckpoint | undefined {
  const [publishedVkey, note] = [VKEY_PATH, CHECKPOINT_PATH].map((path) => {
    const content = read(path);
    return content && new TextDecoder().decode(content);
  });
  if (publishedVkey !== undefined && publishedVkey.trim() !== vkey) {
    throw new Error(`The folder was published with another key or origin: ${publishedVkey.trim()}`);
  }
  if (note !== undefined) {
    return openCheckpoint(note, decodeVerifierKey(vkey), "The published checkpoint");
  }
  if (publishedVkey === undefined) return undefined;
  throw new RefusedError(
    `The folder was published before, but its ${CHECKPOINT_PATH} is missing; copy it back`,
  );
}

/** Verifies the lines of a log, and makes the tiles and bundles of those that continue what was published. */
class Publication {
  /** Files to stage. Some may have been published before, with the same content. */
  readonly files: PublishedFile[] = [];
  /** Paths of the full tiles and bundles that were made. */
  readonly fullTiles: string[] = [];
  #verifier = new LogVerifier();
  /** Position of the first line of the tiles to make. */
  #from: number;
  #previous: TreeHead;
  #published: TileTree;
  #builder: TileBuilder;
  /** The lines of the open tile, if they are published too. */
  #entries: Uint8Array[] | undefined;

  constructor(read: ReadPublished, previous: TreeHead | undefined, entries: boolean) {
    this.#previous = previous ?? { size: 0, root: EMPTY_ROOT };
    const { size } = this.#previous;
    // The last published lines, up to a full tile, are read again to compare them with what was signed.
    const lastTile = Math.max(0, Math.ceil(size / TILE_WIDTH) - 1);
    const start = lastTile * TILE_WIDTH;
    const isBundled = read(tilePath("entries", lastTile, size - start)) !== undefined;
    if (isBundled && !entries) {
      throw new Error("The folder has entry bundles, so --entries must add the new ones");
    }
    this.#entries = entries ? [] : undefined;
    this.#published = new TileTree(read, size);
    const resumed = entries && !isBundled ? 0 : start;
    this.#from = resumed + 1;
    this.#builder = new TileBuilder((tile) => this.#addTile(tile), this.#published, resumed);
  }

  /** Position of the last line verified. */
  get position(): number {
    return this.#verifier.position;
  }

  /** Adds the next line. Throws `RefusedError`. */
  add(line: Uint8Array): void {
    const { size, root } = this.#previous;
    const position = this.position + 1;
    const { faults } = this.#verifier.verify(line);
    const leaf = position < this.#from ? undefined : leafHash(line);
    if (leaf !== undefined && position <= size) {
      expectPublished(leaf, position - 1, this.#published);
    }
    if (faults.length > 0) {
      throw new RefusedError(`Line ${position}: ${faults.join("; ")}. Run deno task audit`);
    }
    if (leaf === undefined) return;
    this.#entries?.push(line);
    this.#builder.push(leaf);
    if (position === size && !bytesEqual(this.#builder.root(), root)) {
      throw new RefusedError(OTHER_ROOT);
    }
  }

  /** Makes the partial tiles, and returns the head of the tree. */
  end(): TreeHead {
    const { size } = this.#previous;
    if (this.position < size) {
      throw new RefusedError(`The log ends before position ${size}, up to which it was published`);
    }
    if (this.position === 0) throw new RefusedError("The log has no events");
    for (const tile of this.#builder.partialTiles()) this.#addTile(tile);
    return { size: this.position, root: this.#builder.root() };
  }

  /** Adds a tile and the bundle of its entries. */
  #addTile({ level, index, hashes }: Tile): void {
    const width = hashes.length / HASH_BYTES;
    const add = (kind: number | "entries", content: Uint8Array) => {
      this.files.push({ path: tilePath(kind, index, width), content });
      if (width === TILE_WIDTH) this.fullTiles.push(tilePath(kind, index));
    };
    add(level, hashes);
    if (level > 0 || this.#entries === undefined) return;
    add("entries", packEntries(this.#entries));
    this.#entries = [];
  }
}

/** A bundle: each line after its length in two bytes. */
function packEntries(lines: Uint8Array[]): Uint8Array {
  return Buffer.concat(
    lines.flatMap((line) => [Uint8Array.of(line.length >> 8, line.length & 0xff), line]),
  );
}
