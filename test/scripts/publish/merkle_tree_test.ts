import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { hash } from "node:crypto";
import {
  EMPTY_ROOT,
  HASH_BYTES,
  isConsistent,
  leafHash,
  rootOfInclusion,
} from "../../../scripts/publish/merkle_tree.ts";
import { TILE_WIDTH, TileBuilder, tilePath, TileTree } from "../../../scripts/publish/tile_tree.ts";

/** The leaves of the tests of Certificate Transparency, and the roots of their trees from size 0 on. */
const CT_LEAVES = [
  "",
  "00",
  "10",
  "2021",
  "3031",
  "40414243",
  "5051525354555657",
  "606162636465666768696a6b6c6d6e6f",
];
const CT_ROOTS = [
  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
  "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
  "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
  "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
  "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
  "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
  "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
  "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

const hex = (bytes: Uint8Array) => bytes.toHex();

/** Lines as different as possible, and short. */
const lineOf = (index: number) => new TextEncoder().encode(`line ${index}`);

/** All tiles of growing trees: those of each size that was asked for, and no others. */
class Tiles {
  readonly files = new Map<string, Uint8Array>();
  readonly builder = new TileBuilder(({ level, index, hashes }) =>
    this.files.set(tilePath(level, index), hashes)
  );

  tree(): TileTree {
    for (const { level, index, hashes } of this.builder.partialTiles()) {
      this.files.set(tilePath(level, index, hashes.length / HASH_BYTES), hashes);
    }
    return new TileTree((path) => this.files.get(path), this.builder.size);
  }
}

Deno.test("the tree has the hashes and roots of the test vectors of RFC 6962", () => {
  const tiles = new Tiles();
  assertEquals(hex(EMPTY_ROOT), CT_ROOTS[0]);
  assertEquals(hex(tiles.builder.root()), CT_ROOTS[0]);
  for (const [index, leaf] of CT_LEAVES.entries()) {
    tiles.builder.push(leafHash(Uint8Array.fromHex(leaf)));
    assertEquals(hex(tiles.builder.root()), CT_ROOTS[index + 1]);
  }
  // Proofs from the same test vectors, for indices and sizes that begin at 1.
  const inclusion = tiles.tree().inclusionProof(5).map(hex);
  assertEquals(inclusion, [
    "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  ]);
  assertEquals(tiles.tree().consistencyProof(6).map(hex), [
    "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
    "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
  ]);
});

/** Small sizes, and sizes around full tiles of both levels. */
const SIZES = [
  ...Array(36).keys(),
  ...[127, 128, 129, 254, 255, 256, 257, 258, 300, 384, 385, 510, 511, 512, 513, 514, 700],
  ...[1_023, 1_024, 1_300, 65_535, 65_536, 65_537, 66_000],
];

Deno.test("for many sizes, roots, tiles and proofs are those of the plain tree, and a builder can resume", () => {
  const leaves = Array.from({ length: SIZES.at(-1)! }, (_, index) => plainLeafHash(lineOf(index)));
  const plain = new PlainMerkleTree(leaves);
  const tiles = new Tiles();
  for (const size of SIZES) {
    while (tiles.builder.size < size) tiles.builder.push(leafHash(lineOf(tiles.builder.size)));
    const tree = tiles.tree();
    const root = plain.root(size);
    assertEquals([size, hex(tiles.builder.root())], [size, root]);
    // Some indices and older sizes for each size, and different ones each time.
    for (const index of [0, size - 1, size * 7 % 1_009 % size, size * 31 % 997 % size]) {
      if (!(index >= 0 && index < size)) continue;
      const proof = tree.inclusionProof(index);
      assertEquals(proof.map(hex), plain.path(index, size));
      assertEquals(hex(tree.leaf(index)), leaves[index]);
      assertEquals(rootOfInclusion(index, size, tree.leaf(index), proof).toHex(), root);
    }
    for (const old of new Set([0, 1, 255, 256, 257, size - 1, size, size * 13 % 1_013])) {
      if (old < 0 || old > size) continue;
      const proof = tree.consistencyProof(old);
      assertEquals(proof.map(hex), old === 0 ? [] : plain.proof(old, size));
      const oldHead = { size: old, root: Uint8Array.fromHex(plain.root(old)) };
      const head = { size, root: Uint8Array.fromHex(root) };
      assert(isConsistent(oldHead, head, proof), `${old} in ${size}`);
    }
    const start = Math.floor(size / TILE_WIDTH) * TILE_WIDTH;
    const resumed = new TileBuilder(undefined, tree, start);
    for (let index = start; index < size; index++) resumed.push(leafHash(lineOf(index)));
    assertEquals(hex(resumed.root()), root);
  }
});

Deno.test("a proof that was altered or cut leads to another root", () => {
  const tiles = new Tiles();
  const push = (size: number) => {
    while (tiles.builder.size < size) tiles.builder.push(leafHash(lineOf(tiles.builder.size)));
    return { size, root: tiles.builder.root() };
  };
  const [old, head] = [push(300), push(700)];
  const tree = tiles.tree();
  const altered = (proof: Uint8Array[]) => proof.map((hash) => hash.with(0, hash[0] ^ 1));
  const inclusion = tree.inclusionProof(300);
  for (const bad of [altered(inclusion), inclusion.slice(1), []]) {
    assertNotEquals(hex(rootOfInclusion(300, 700, tree.leaf(300), bad)), hex(head.root));
  }
  const consistency = tree.consistencyProof(300);
  assert(isConsistent(old, head, consistency));
  for (const bad of [altered(consistency), consistency.slice(1), [...consistency, old.root], []]) {
    assert(!isConsistent(old, head, bad));
  }
  assert(!isConsistent({ ...old, root: head.root }, head, consistency));
  assert(!isConsistent(head, old, []));
});

Deno.test("tilePath() groups the digits of an index", () => {
  const indices = [0, 67, 1_067, 1_234_067];
  assertEquals(indices.map((index) => tilePath(0, index, 5)), [
    "tile/0/000.p/5",
    "tile/0/067.p/5",
    "tile/0/x001/067.p/5",
    "tile/0/x001/x234/067.p/5",
  ]);
});

type Hex = string;

function plainLeafHash(line: Uint8Array): Hex {
  return hash("sha256", Uint8Array.of(0, ...line), "hex");
}

function plainNodeHash(left: Hex, right: Hex): Hex {
  return hash("sha256", Uint8Array.fromHex(`01${left}${right}`), "hex");
}

/** The definitions of RFC 6962, section 2.1, as recursive functions of all leaves. */
class PlainMerkleTree {
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
