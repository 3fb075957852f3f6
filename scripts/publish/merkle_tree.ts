/** The Merkle tree of RFC 6962: its hashes, and the roots that its proofs lead to. */

import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";

export const HASH_BYTES = 32;

const LEAF_PREFIX = 0;
const NODE_PREFIX = 1;

/** The value of each lower-case hex digit, by its character code. A table is faster than what the platform has. */
const DIGITS = new Uint8Array(128);
for (let value = 0; value < 16; value++) DIGITS[value.toString(16).charCodeAt(0)] = value;

/** Root of the tree without leaves. */
export const EMPTY_ROOT = decodeHex(sha256Hex(""));

/** Reused for every hash, because an allocation costs more than the hash of a short input. */
let leafInput = new Uint8Array(4_096);
const nodeInput = new Uint8Array(1 + 2 * HASH_BYTES);
nodeInput[0] = NODE_PREFIX;

export function leafHash(line: Uint8Array): Uint8Array {
  if (line.length >= leafInput.length) leafInput = new Uint8Array(2 * line.length);
  leafInput[0] = LEAF_PREFIX;
  leafInput.set(line, 1);
  return decodeHex(sha256Hex(leafInput.subarray(0, line.length + 1)));
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return decodeHex(sha256Hex(nodeInput));
}

/** The root of the tree over hashes that are concatenated. There must be one at least. */
export function rootOf(hashes: Uint8Array): Uint8Array {
  const nodes = hashes.slice();
  for (let count = nodes.length / HASH_BYTES; count > 1; count = Math.ceil(count / 2)) {
    for (let index = 0; index < count; index += 2) {
      const start = index * HASH_BYTES;
      const target = start / 2;
      if (index + 1 === count) {
        nodes.copyWithin(target, start, start + HASH_BYTES);
        continue;
      }
      nodeInput.set(nodes.subarray(start, start + 2 * HASH_BYTES), 1);
      decodeHexInto(nodes, target, sha256Hex(nodeInput));
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
 * The root that a proof of inclusion leads to, for the leaf at `index` of a tree of that size. Returns
 * `undefined` if the proof has another length.
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
  return resultOf(() => climb(index, size), rest);
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
  const roots = resultOf(() => climb(oldSize, newSize, true), rest);
  return roots !== undefined && bytesEqual(roots[0], oldRoot) && bytesEqual(roots[1], newRoot);
}

/** A size and the root of the tree of that size. */
export interface TreeHead {
  size: number;
  root: Uint8Array;
}

class ProofTooShortError extends Error {}

function take(rest: Uint8Array[]): Uint8Array {
  const hash = rest.shift();
  if (hash === undefined) throw new ProofTooShortError();
  return hash;
}

/** The result of a climb that uses up the whole proof. */
function resultOf<T>(climb: () => T, rest: Uint8Array[]): T | undefined {
  try {
    const result = climb();
    return rest.length === 0 ? result : undefined;
  } catch (error) {
    if (error instanceof ProofTooShortError) return undefined;
    throw error;
  }
}

function decodeHex(hex: string): Uint8Array {
  const bytes = new Uint8Array(HASH_BYTES);
  decodeHexInto(bytes, 0, hex);
  return bytes;
}

function decodeHexInto(bytes: Uint8Array, offset: number, hex: string): void {
  for (let index = 0; index < HASH_BYTES; index++) {
    bytes[offset + index] = DIGITS[hex.charCodeAt(2 * index)] << 4 |
      DIGITS[hex.charCodeAt(2 * index + 1)];
  }
}
