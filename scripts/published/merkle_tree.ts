/** The Merkle tree of RFC 6962: its hashes, and the roots that its proofs lead to. */

import { Buffer } from "node:buffer";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";

export const HASH_BYTES = 32;

const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/** Root of the tree without leaves. */
export const EMPTY_ROOT = Uint8Array.fromHex(sha256Hex(""));

/** A size and the root of the tree of that size. */
export interface TreeHead {
  size: number;
  root: Uint8Array;
}

/** The leaves from `start` to before `end`, of which RFC 6962 makes a subtree. */
export interface Subtree {
  start: number;
  end: number;
}

export function leafHash(line: Uint8Array): Uint8Array {
  return hashOf(LEAF_PREFIX, line);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return hashOf(NODE_PREFIX, left, right);
}

function hashOf(prefix: number, ...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.fromHex(sha256Hex(Buffer.concat([Uint8Array.of(prefix), ...parts])));
}

/** The root of the tree over hashes that are concatenated. There must be one at least. */
export function rootOf(hashes: Uint8Array): Uint8Array {
  if (hashes.length === HASH_BYTES) return hashes;
  const middle = splitOf(hashes.length / HASH_BYTES) * HASH_BYTES;
  return nodeHash(rootOf(hashes.subarray(0, middle)), rootOf(hashes.subarray(middle)));
}

/** The largest power of two below `size`, where RFC 6962 splits a tree of two leaves or more. */
export function splitOf(size: number): number {
  return 2 ** (Math.ceil(Math.log2(size)) - 1);
}

/**
 * Descends from the root of a tree to the largest subtree that ends before `until` or, with `isLeaf`, to its last leaf.
 * Returns its start, and the subtrees beside the way, the lowest first.
 */
export function descend(
  size: number,
  until: number,
  isLeaf = false,
): { start: number; siblings: Subtree[] } {
  const siblings: Subtree[] = [];
  let [start, end] = [0, size];
  while (end > until || isLeaf && end - start > 1) {
    const middle = start + splitOf(end - start);
    const isLeft = until <= middle;
    siblings.unshift(isLeft ? { start: middle, end } : { start, end: middle });
    if (isLeft) end = middle;
    else start = middle;
  }
  return { start, siblings };
}

/** The root that a proof of inclusion leads to: another one if the proof was altered or cut. */
export function rootOfInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
): Uint8Array {
  const { siblings } = descend(size, index + 1, true);
  return climb(leaf, index + 1, siblings, proof).root;
}

/** Whether a proof of consistency shows that the new tree begins with the leaves of the old one. */
export function isConsistent(
  old: TreeHead,
  { size, root }: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (old.size > size) return false;
  if (old.size === 0) return proof.length === 0 && bytesEqual(old.root, EMPTY_ROOT);
  const { start, siblings } = descend(size, old.size);
  const [node, ...rest] = start === 0 ? [old.root, ...proof] : proof;
  if (rest.length !== siblings.length) return false;
  const roots = climb(node, old.size, siblings, rest);
  return bytesEqual(roots.oldRoot, old.root) && bytesEqual(roots.root, root);
}

/** The root above a node, and the root of the leaves before `until` only, with which the node ends. */
function climb(
  node: Uint8Array,
  until: number,
  siblings: Subtree[],
  hashes: readonly Uint8Array[],
): { root: Uint8Array; oldRoot: Uint8Array } {
  let [root, oldRoot] = [node, node];
  for (const [index, { end }] of siblings.entries()) {
    // After the last hash, none: then the root is another one.
    const hash = hashes[index] ?? new Uint8Array();
    if (end < until) {
      root = nodeHash(hash, root);
      oldRoot = nodeHash(hash, oldRoot);
    } else root = nodeHash(root, hash);
  }
  return { root, oldRoot };
}
