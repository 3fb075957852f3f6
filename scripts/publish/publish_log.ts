/**
 * Publishes the log as tiles under a signed checkpoint (https://c2sp.org/tlog-tiles). Only the published folder
 * remembers what was signed, because a store can be an older copy that an audit finds sound.
 */

import { Buffer } from "node:buffer";
import { followsHash, GENESIS_HASH, MalformedEventError } from "../../events/event.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { eventOf, LINE_LIMIT_BYTES, readEvent } from "../../src/log/lines.ts";
import { openCheckpoint, signCheckpoint, type SignedCheckpoint } from "./checkpoint.ts";
import { EMPTY_ROOT, HASH_BYTES, leafHash, type TreeHead } from "./merkle_tree.ts";
import { decodeVerifierKey, encodeVerifierKey, NoteError, type Signer } from "./signed_note.ts";
import { TILE_WIDTH, tilePath, widthOf } from "./tile.ts";
import { type Tile, TileBuilder } from "./tile_builder.ts";
import { PublishedFileError, type ReadPublished, TileTree } from "./tile_tree.ts";

export const CHECKPOINT_PATH = "checkpoint";
export const VKEY_PATH = "log.vkey";

/** How many new files are collected before they are written together. */
const FILES_TOGETHER = 64;

/** The log does not continue what was published, a witness refuses it, or the published files are damaged. */
export class PublishRefusedError extends Error {
  override name = "PublishRefusedError";
}

export interface PublishedFile {
  path: string;
  content: Uint8Array;
}

/** The folder to publish in. New files are staged first, so that a refused or killed run publishes nothing. */
export interface PublishFolder {
  /** Reads a staged file or, if there is none, a published one. */
  read: ReadPublished;
  stage(files: PublishedFile[]): Promise<void>;
  /** Moves each staged file to its place atomically. Resolves when all are on disk. */
  publishStaged(): Promise<void>;
  /** Removes a folder if it exists. */
  removeFolder(path: string): Promise<void>;
}

export interface PublishDeps {
  folder: PublishFolder;
  /** Reads the lines of the log, in order, from that position to the last one. */
  readLines: (from: number) => AsyncIterable<Uint8Array[]>;
  signer: Signer;
}

/** Resolves to the checkpoint with cosignatures of witnesses. Rejects if a witness refuses. */
export type Cosign = (
  checkpoint: SignedCheckpoint,
  tree: TileTree,
  previousSize: number,
) => Promise<SignedCheckpoint>;

export interface PublishOptions {
  /** Whether to publish the lines too, as entry bundles. */
  entries: boolean;
  cosign?: Cosign;
  /** Called with the number of events that are published or staged, unless the new ones are few. */
  progress?: (done: number) => void;
}

export interface PublishResult {
  /** Number of events that were published before. */
  previousSize: number;
  checkpoint: SignedCheckpoint;
}

/** Publishes what is new in the log. Rejects with `PublishRefusedError`. */
export async function publishLog(
  { folder, readLines, signer }: PublishDeps,
  { entries, cosign, progress = () => {} }: PublishOptions,
): Promise<PublishResult> {
  const vkey = encodeVerifierKey(signer);
  try {
    const previous = readPrevious(folder.read, vkey);
    const previousSize = previous?.size ?? 0;
    const publication = new Publication(folder, previous, entries);
    for await (const lines of readLines(publication.from)) {
      for (const line of lines) publication.add(line);
      if (await publication.stageMany()) progress(publication.size);
    }
    await publication.stageRest();
    let checkpoint = signCheckpoint(publication.head, signer);
    if (cosign !== undefined) {
      checkpoint = await cosign(checkpoint, publication.tree, previousSize);
    } else if (checkpoint.size === previousSize) checkpoint = previous!;
    await folder.publishStaged();
    const replace = async (path: string, text: string) => {
      await folder.stage([{ path, content: new TextEncoder().encode(text) }]);
      await folder.publishStaged();
    };
    if (checkpoint.note !== previous?.note) await replace(CHECKPOINT_PATH, checkpoint.note);
    // Written after the checkpoint, so a folder with this file has had a checkpoint.
    if (folder.read(VKEY_PATH) === undefined) await replace(VKEY_PATH, `${vkey}\n`);
    for (const path of publication.outdatedFolders) await folder.removeFolder(path);
    return { previousSize, checkpoint };
  } catch (error) {
    if (!(error instanceof PublishedFileError || error instanceof NoteError)) throw error;
    throw new PublishRefusedError(`The published folder is damaged: ${error.message}`);
  }
}

/** The last checkpoint of the folder; `undefined` before the first one. */
function readPrevious(read: ReadPublished, vkey: string): SignedCheckpoint | undefined {
  const publishedVkey = textOf(read(VKEY_PATH))?.trim();
  if (publishedVkey !== undefined && publishedVkey !== vkey) {
    throw new Error(`The folder was published with another key or origin: ${publishedVkey}`);
  }
  const note = textOf(read(CHECKPOINT_PATH));
  if (note !== undefined) return openCheckpoint(note, decodeVerifierKey(vkey));
  if (publishedVkey === undefined) return undefined;
  throw new PublishRefusedError(
    `The folder was published before, but its ${CHECKPOINT_PATH} is missing; copy it back`,
  );
}

/** Checks the lines that continue a published log, and stages their tiles and bundles. */
class Publication {
  /** Position of the first line to read. */
  readonly from: number;
  /** The folders of partial tiles that are full now. Readers use the full tile instead. */
  readonly outdatedFolders: string[] = [];
  #folder: PublishFolder;
  #previous: TreeHead;
  #builder: TileBuilder;
  /** The lines of the open tile, if they are published too. */
  #entries: Uint8Array[] | undefined;
  /** Number of lines that the published bundles have. */
  #bundledSize: number;
  #files: PublishedFile[] = [];
  /** Leaf hashes of the last published lines, as the log has them. */
  #lastLeaves: Uint8Array[] = [];
  #lastLine: Uint8Array | undefined;

  constructor(folder: PublishFolder, previous: SignedCheckpoint | undefined, entries: boolean) {
    this.#folder = folder;
    this.#previous = previous ?? { size: 0, root: EMPTY_ROOT };
    const { size } = this.#previous;
    const lastTile = lastTileStart(size);
    const lastBundle = tilePath("entries", lastTile / TILE_WIDTH, size - lastTile);
    const isBundled = folder.read(lastBundle) !== undefined;
    if (isBundled && !entries) {
      throw new Error(
        "The folder has entry bundles, so --entries must add those of the new events",
      );
    }
    this.#bundledSize = isBundled ? size : 0;
    // The last published lines, up to a full tile, are read again to compare them with what was signed.
    const start = entries && !isBundled ? 0 : lastTile;
    this.from = start + 1;
    this.#entries = entries ? [] : undefined;
    const tree = new TileTree(folder.read, size);
    this.#builder = TileBuilder.resume(tree, start, (tile) => this.#addTile(tile));
  }

  /** Number of lines in the tree. */
  get size(): number {
    return this.#builder.size;
  }

  get head(): TreeHead {
    return { size: this.size, root: this.#builder.root() };
  }

  /** The tree of published and staged tiles. */
  get tree(): TileTree {
    return new TileTree(this.#folder.read, this.size);
  }

  /** Adds the next line. Throws `PublishRefusedError`. */
  add(line: Uint8Array): void {
    const position = this.size + 1;
    const isNew = position > this.#previous.size;
    if (isNew) this.#expectLinked(line, position);
    const leaf = leafHash(line);
    this.#entries?.push(line);
    this.#builder.push(leaf);
    this.#lastLine = line;
    if (!isNew) this.#compareWithPublished(leaf, position);
  }

  /** Stages the complete files if there are many, and returns whether it did. */
  async stageMany(): Promise<boolean> {
    if (this.#files.length < FILES_TOGETHER) return false;
    await this.#stage();
    return true;
  }

  /** Checks that the log ends with an event, and stages all other files. */
  async stageRest(): Promise<void> {
    const { size } = this.#previous;
    if (this.size < size) {
      throw new PublishRefusedError(
        `The log ends before position ${size}, up to which it was published`,
      );
    }
    if (this.#lastLine === undefined) throw new PublishRefusedError("The log has no events");
    expectEvent(this.#lastLine, this.size);
    for (const tile of this.#builder.partialTiles()) this.#addTile(tile);
    await this.#stage();
  }

  #expectLinked(line: Uint8Array, position: number): void {
    if (line.length > LINE_LIMIT_BYTES) {
      throw new PublishRefusedError(`Line ${position} is longer than ${LINE_LIMIT_BYTES} bytes`);
    }
    const last = this.#lastLine;
    if (followsHash(line, last === undefined ? GENESIS_HASH : sha256Hex(last))) return;
    throw new PublishRefusedError(
      last !== undefined
        ? `Line ${position} does not follow from line ${position - 1}: its previoushash is another`
        : eventOf(line) === undefined
        ? "Line 1 is not an event, so this is not a log or an export of one"
        : "The log does not begin with the first line of a log",
    );
  }

  /**
   * Compares the root of the tree with the signed one as soon as it has the last published line. If they are
   * equal, the log still has the last published lines, and the tiles are those that were signed.
   */
  #compareWithPublished(leaf: Uint8Array, position: number): void {
    const { size, root } = this.#previous;
    const start = lastTileStart(size);
    if (position > start) this.#lastLeaves.push(leaf);
    if (position < size || bytesEqual(this.#builder.root(), root)) return;
    const tree = new TileTree(this.#folder.read, size);
    const different = this.#lastLeaves.findIndex((leaf, index) =>
      !bytesEqual(leaf, tree.leaf(start + index))
    );
    throw new PublishRefusedError(
      different === -1
        ? `The tiles do not have the root that the ${CHECKPOINT_PATH} signs for ${size} events`
        : `Line ${start + different + 1} of the log is not the one that was published`,
    );
  }

  /** Adds a tile and the bundle of its entries. */
  #addTile({ level, index, hashes }: Tile): void {
    const width = hashes.length / HASH_BYTES;
    this.#addFile(level, index, width, widthOf(level, index, this.#previous.size), hashes);
    if (level > 0 || this.#entries === undefined) return;
    const bundled = widthOf(0, index, this.#bundledSize);
    this.#addFile("entries", index, width, bundled, packEntries(this.#entries));
    this.#entries = [];
  }

  /** Adds a tile or a bundle, unless as much of it was published before. */
  #addFile(
    level: number | "entries",
    index: number,
    width: number,
    publishedWidth: number,
    content: Uint8Array,
  ): void {
    if (publishedWidth >= width) return;
    this.#files.push({ path: tilePath(level, index, width), content });
    if (publishedWidth <= 0 || width < TILE_WIDTH) return;
    this.outdatedFolders.push(`${tilePath(level, index)}.p`);
  }

  async #stage(): Promise<void> {
    const files = this.#files;
    this.#files = [];
    await this.#folder.stage(files);
  }
}

/** Number of lines before the last tile of a tree of that size, which may be full. */
function lastTileStart(size: number): number {
  return Math.max(0, Math.ceil(size / TILE_WIDTH) - 1) * TILE_WIDTH;
}

/** A bundle: each line after its length in two bytes. */
function packEntries(lines: Uint8Array[]): Uint8Array {
  return Buffer.concat(
    lines.flatMap((line) => [Uint8Array.of(line.length >> 8, line.length & 0xff), line]),
  );
}

/** Throws `PublishRefusedError` for a line that was cut, or that is not at its position. */
function expectEvent(line: Uint8Array, position: number): void {
  const event = readEvent(line);
  if (event instanceof MalformedEventError || event.position !== position) {
    const reason = event instanceof MalformedEventError
      ? event.message
      : `its sequence says position ${event.position}`;
    throw new PublishRefusedError(`Line ${position}, the last one, is not sound: ${reason}`);
  }
}

function textOf(content: Uint8Array | undefined): string | undefined {
  return content && new TextDecoder().decode(content);
}
