/** The Merkle tree of RFC 6962: its hashes, and the roots that its proofs lead to. */

import { bytesEqual } from "../../encoding/bytes_equal.ts";
import { bytesOfHex } from "../../encoding/hex.ts";
import { sha256Hex } from "../../encoding/sha256.ts";
import { Buffer } from "node:buffer";

export const HASH_BYTES = 32;

const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

export const EMPTY_ROOT = bytesOfHex(sha256Hex(""));

/** The size and the root of a tree. */
export interface TreeHead {
  /** Number of leaves. */
  size: number;
  /** The hash of the whole tree. */
  root: Uint8Array;
}

/** The leaves from `start` to before `end`, of which RFC 6962 makes a subtree. */
export interface Subtree {
  start: number;
  end: number;
}

export function leafHash(line: Uint8Array): Uint8Array {
  return hashWith(LEAF_PREFIX, line);
}

function hashWith(prefix: number, ...parts: Uint8Array[]): Uint8Array {
  return bytesOfHex(sha256Hex(Buffer.concat([Uint8Array.of(prefix), ...parts])));
}

/** The root over a range of leaves, by the hashes of subtrees that are known, and that cover it. */
export function rootOver(
  tree: Subtree,
  hashOf: (subtree: Subtree) => Uint8Array | undefined,
): Uint8Array {
  const hash = hashOf(tree);
  if (hash !== undefined) return hash;
  return hashWith(NODE_PREFIX, ...halvesOf(tree).map((half) => rootOver(half, hashOf)));
}

/** The root over hashes that are concatenated, at least one. */
export function rootOf(hashes: Uint8Array): Uint8Array {
  const hashOf = ({ start, end }: Subtree) =>
    end - start === 1 ? hashes.subarray(start * HASH_BYTES, end * HASH_BYTES) : undefined;
  return rootOver({ start: 0, end: hashes.length / HASH_BYTES }, hashOf);
}

/** The halves of a tree of at least two leaves: the left one has the largest power of two below its size. */
function halvesOf({ start, end }: Subtree): [left: Subtree, right: Subtree] {
  const middle = start + 2 ** (Math.ceil(Math.log2(end - start)) - 1);
  return [{ start, end: middle }, { start: middle, end }];
}

/**
 * The subtrees of a proof, the lowest first: the leaf at an index or, with `isLargest`, the largest subtree that ends
 * with it, and then the siblings on the way from there to the root (RFC 6962, 2.1.1 and 2.1.2).
 */
export function subtreesOfProof(index: number, tree: Subtree, isLargest = false): Subtree[] {
  const { start, end } = tree;
  if (end - start === 1 || isLargest && end === index + 1) return [tree];
  const [left, right] = halvesOf(tree);
  const [next, sibling] = index < left.end ? [left, right] : [right, left];
  return [...subtreesOfProof(index, next, isLargest), sibling];
}

/** Whether a proof of inclusion shows that a tree has that leaf at an index. */
export function isIncluded(leaf: Uint8Array, index: number, tree: TreeHead, proof: Uint8Array[]) {
  if (index >= tree.size) return false;
  return leadTo(tree, subtreesOfProof(index, { start: 0, end: tree.size }), [leaf, ...proof]);
}

/** Whether a proof of consistency shows that the new tree begins with the leaves of the old one. */
export function isConsistent(old: TreeHead, tree: TreeHead, proof: Uint8Array[]): boolean {
  if (old.size > tree.size) return false;
  if (old.size === 0) return proof.length === 0 && bytesEqual(old.root, EMPTY_ROOT);
  const subtrees = subtreesOfProof(old.size - 1, { start: 0, end: tree.size }, true);
  // A proof leaves out the old root if that is a hash of the new tree.
  const hashes = subtrees[0].start === 0 ? [old.root, ...proof] : proof;
  return [old, tree].every((it) => leadTo(it, subtrees, hashes));
}

function leadTo({ size, root }: TreeHead, subtrees: Subtree[], hashes: Uint8Array[]): boolean {
  if (hashes.length !== subtrees.length) return false;
  const nameOf = ({ start, end }: Subtree) => `${start}-${end}`;
  const known = new Map(subtrees.map((subtree, index) => [nameOf(subtree), hashes[index]]));
  return bytesEqual(rootOver({ start: 0, end: size }, (it) => known.get(nameOf(it))), root);
}
