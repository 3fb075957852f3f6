/** The definitions of RFC 6962, section 2.1, as recursive functions of all leaves. Tests compare with them. */

import { hash } from "node:crypto";

export type Hex = string;

export function plainLeafHash(line: Uint8Array): Hex {
  return hash("sha256", Uint8Array.of(0, ...line), "hex");
}

function plainNodeHash(left: Hex, right: Hex): Hex {
  return hash("sha256", Uint8Array.fromHex(`01${left}${right}`), "hex");
}

/** A tree of a growing list of leaf hashes. */
export class PlainMerkleTree {
  #leaves: Hex[];
  /** Roots by their range. They never change, because leaves are only added. */
  #roots = new Map<string, Hex>();

  constructor(leaves: Hex[]) {
    this.#leaves = leaves;
  }

  /** MTH(D[start:end]) */
  root(end: number, start = 0): Hex {
    const size = end - start;
    if (size === 0) return hash("sha256", "", "hex");
    if (size === 1) return this.#leaves[start];
    const range = `${start}:${end}`;
    const known = this.#roots.get(range);
    if (known !== undefined) return known;
    const k = largestPowerOfTwoBelow(size);
    const root = plainNodeHash(this.root(start + k, start), this.root(end, start + k));
    this.#roots.set(range, root);
    return root;
  }

  /** PATH(m, D[start:end]) */
  path(m: number, end: number, start = 0): Hex[] {
    const size = end - start;
    if (size === 1) return [];
    const k = largestPowerOfTwoBelow(size);
    return m < k
      ? [...this.path(m, start + k, start), this.root(end, start + k)]
      : [...this.path(m - k, end, start + k), this.root(start + k, start)];
  }

  /** SUBPROOF(m, D[start:end], b); PROOF(m, D[end]) if only `m` and `end` are given. */
  proof(m: number, end: number, start = 0, b = true): Hex[] {
    const size = end - start;
    if (m === size) return b ? [] : [this.root(end, start)];
    const k = largestPowerOfTwoBelow(size);
    return m <= k
      ? [...this.proof(m, start + k, start, b), this.root(end, start + k)]
      : [...this.proof(m - k, end, start + k, false), this.root(start + k, start)];
  }
}

function largestPowerOfTwoBelow(size: number): number {
  return 2 ** (Math.ceil(Math.log2(size)) - 1);
}
