/**
 * Publishes the log as tiles under a signed checkpoint (https://c2sp.org/tlog-tiles). Only the published folder
 * remembers what was signed, because a store can be an older copy that an audit finds sound.
 */

import { Buffer } from "node:buffer";
import { followsHash, GENESIS_HASH } from "../../events/event.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { eventOf, LINE_LIMIT_BYTES } from "../../src/log/lines.ts";
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
  /** Called with the number of events that are published or staged, unless the new ones are few. */
  progress?: (done: number) => void;
}

/** Publishes what is new in the log. Resolves to the numbers of published events. Rejects with `RefusedError`. */
export async function publishLog(options: PublishOptions): Promise<[before: number, now: number]> {
  const { folder, readLines, signer, entries, witnesses = [], witnessKeys = [] } = options;
  const vkey = encodeVerifierKey(signer);
  const previous = readPrevious(folder.read, vkey);
  const previousSize = previous?.size ?? 0;
  const publication = new Publication(folder.read, previous, entries);
  const { files, fullTiles } = publication;
  for await (const lines of readLines(publication.from)) {
    for (const line of lines) publication.add(line);
    if (files.length < FILES_TOGETHER) continue;
    await folder.stage(files.splice(0));
    options.progress?.(publication.size);
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

/** Checks the lines that continue a published log, and makes their tiles and bundles. */
class Publication {
  /** Position of the first line to read. */
  readonly from: number;
  /** Files to stage. Some may have been published before, with the same content. */
  readonly files: PublishedFile[] = [];
  /** Paths of the full tiles and bundles that were made. */
  readonly fullTiles: string[] = [];
  #previous: TreeHead;
  #published: TileTree;
  #builder: TileBuilder;
  /** The lines of the open tile, if they are published too. */
  #entries: Uint8Array[] | undefined;
  #lastLine: Uint8Array | undefined;

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
    this.from = resumed + 1;
    this.#builder = new TileBuilder((tile) => this.#addTile(tile), this.#published, resumed);
  }

  /** Number of lines in the tree. */
  get size(): number {
    return this.#builder.size;
  }

  /** Adds the next line. Throws `RefusedError`. */
  add(line: Uint8Array): void {
    const { size, root } = this.#previous;
    const position = this.size + 1;
    const leaf = leafHash(line);
    if (position > size) this.#expectLinked(line, position);
    else expectPublished(leaf, position - 1, this.#published);
    this.#entries?.push(line);
    this.#builder.push(leaf);
    this.#lastLine = line;
    if (position === size && !bytesEqual(this.#builder.root(), root)) {
      throw new RefusedError(OTHER_ROOT);
    }
  }

  /** Checks that the log ends with an event, makes the partial tiles, and returns the head of the tree. */
  end(): TreeHead {
    const { size } = this.#previous;
    if (this.size < size) {
      throw new RefusedError(`The log ends before position ${size}, up to which it was published`);
    }
    if (this.#lastLine === undefined) throw new RefusedError("The log has no events");
    if (eventOf(this.#lastLine) === undefined) {
      throw new RefusedError(`Line ${this.size}, the last one, was cut or is not an event`);
    }
    for (const tile of this.#builder.partialTiles()) this.#addTile(tile);
    return { size: this.size, root: this.#builder.root() };
  }

  #expectLinked(line: Uint8Array, position: number): void {
    if (line.length > LINE_LIMIT_BYTES) {
      throw new RefusedError(`Line ${position} is longer than ${LINE_LIMIT_BYTES} bytes`);
    }
    const last = this.#lastLine;
    if (followsHash(line, last === undefined ? GENESIS_HASH : sha256Hex(last))) return;
    throw new RefusedError(
      last === undefined
        ? "The log does not begin with the first line of a log"
        : `Line ${position} does not follow from line ${position - 1}: its previoushash is another`,
    );
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
