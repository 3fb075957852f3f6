/** The Merkle tree of RFC 6962: its hashes, and the roots that its proofs lead to. */

import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";

export const HASH_BYTES = 32;

const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/** Root of the tree without leaves. */
export const EMPTY_ROOT = Uint8Array.fromHex(sha256Hex(""));

/** Reused for every hash, because an allocation costs more than the hash of a short input. */
let input = new Uint8Array(4_096);

export function leafHash(line: Uint8Array): Uint8Array {
  return hashOf(LEAF_PREFIX, line);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  return hashOf(NODE_PREFIX, left, right);
}

function hashOf(prefix: number, ...parts: Uint8Array[]): Uint8Array {
  const bytes = parts.reduce((sum, { length }) => sum + length, 1);
  if (bytes > input.length) input = new Uint8Array(2 * bytes);
  input[0] = prefix;
  let end = 1;
  for (const part of parts) {
    input.set(part, end);
    end += part.length;
  }
  return Uint8Array.fromHex(sha256Hex(input.subarray(0, end)));
}

/** The root of the tree over hashes that are concatenated. There must be one at least. */
export function rootOf(hashes: Uint8Array): Uint8Array {
  const nodes = hashes.slice();
  for (let count = nodes.length / HASH_BYTES; count > 1; count = Math.ceil(count / 2)) {
    for (let index = 0; index < count; index += 2) {
      const pair = nodes.subarray(index * HASH_BYTES, Math.min(index + 2, count) * HASH_BYTES);
      const node = pair.length === HASH_BYTES ? pair : hashOf(NODE_PREFIX, pair);
      nodes.set(node, index / 2 * HASH_BYTES);
    }
  }
  return nodes.slice(0, HASH_BYTES);
}

/** The largest power of two below `size`, where RFC 6962 splits a tree of two leaves or more. */
export function splitOf(size: number): number {
  let split = 1;
  while (2 * split < size) split *= 2;
  return split;
}

/**
 * The root that a proof of inclusion leads to, for the leaf at `index` of a tree of that size. It is another one
 * if the proof was altered or is too short, and `undefined` if the proof is too long.
 */
export function rootOfInclusion(
  index: number,
  size: number,
  leaf: Uint8Array,
  proof: readonly Uint8Array[],
): Uint8Array | undefined {
  const rest = [...proof];
  const climb = (index: number, size: number): Uint8Array => {
    if (size === 1) return leaf;
    const split = splitOf(size);
    if (index < split) return nodeHash(climb(index, split), take(rest));
    const right = climb(index - split, size - split);
    return nodeHash(take(rest), right);
  };
  const root = climb(index, size);
  return rest.length === 0 ? root : undefined;
}

/**
 * Whether a proof of consistency shows that the tree of `newSize` leaves begins with the tree of `oldSize`
 * leaves.
 */
export function isConsistent(
  { size: oldSize, root: oldRoot }: TreeHead,
  { size: newSize, root: newRoot }: TreeHead,
  proof: readonly Uint8Array[],
): boolean {
  if (oldSize > newSize) return false;
  if (oldSize === 0) return proof.length === 0 && bytesEqual(oldRoot, EMPTY_ROOT);
  const rest = [...proof];
  /** The roots of the old and of the new part of a subtree. */
  const climb = (old: number, size: number, isFirst: boolean): [Uint8Array, Uint8Array] => {
    if (old === size) {
      const root = isFirst ? oldRoot : take(rest);
      return [root, root];
    }
    const split = splitOf(size);
    if (old <= split) {
      const [oldPart, newPart] = climb(old, split, isFirst);
      return [oldPart, nodeHash(newPart, take(rest))];
    }
    const [oldPart, newPart] = climb(old - split, size - split, false);
    const left = take(rest);
    return [nodeHash(left, oldPart), nodeHash(left, newPart)];
  };
  const roots = climb(oldSize, newSize, true);
  return rest.length === 0 && bytesEqual(roots[0], oldRoot) && bytesEqual(roots[1], newRoot);
}

/** A size and the root of the tree of that size. */
export interface TreeHead {
  size: number;
  root: Uint8Array;
}

/** The next hash of a proof. After the last one it is empty, as no hash is, so that the root is another one. */
function take(rest: Uint8Array[]): Uint8Array {
  return rest.shift() ?? new Uint8Array();
}
