import { assert, assertEquals } from "@std/assert";
import { hash } from "node:crypto";
import {
  EMPTY_ROOT,
  HASH_BYTES,
  isConsistent,
  isIncluded,
  leafHash,
} from "../../../src/eventstore_less/tools/published/merkle_tree.ts";
import {
  TileBuilder,
  tilePath,
  TileTree,
} from "../../../src/eventstore_less/tools/published/tile_tree.ts";

/** The leaves of the tests of Certificate Transparency, and the roots of their trees from size 0 on. */
const CT_LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657"]
  .concat("606162636465666768696a6b6c6d6e6f");
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

const lineHash = (index: number) => leafHash(new TextEncoder().encode(`line ${index}`));

/** All tiles of growing trees: those of each size that was asked for, and no others. */
class Tiles {
  readonly files = new Map<string, Uint8Array>();
  readonly builder = new TileBuilder();

  push(leaf: Uint8Array): void {
    for (const { level, index, hashes } of this.builder.push(leaf)) {
      this.files.set(tilePath(level, index), hashes);
    }
  }

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
    tiles.push(leafHash(Uint8Array.fromHex(leaf)));
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

/** Small sizes, and sizes around full tiles. */
const SIZES = [
  ...Array(36).keys(),
  ...[127, 128, 255, 256, 257, 300, 511, 512, 513, 700, 1_300],
];

Deno.test("for many sizes, the roots are those of the plain tree, and proofs lead to them", () => {
  const leaves: Uint8Array[] = [];
  const tiles = new Tiles();
  for (const size of SIZES) {
    while (leaves.length < size) {
      tiles.push(leaves[leaves.push(lineHash(leaves.length)) - 1]);
    }
    const tree = tiles.tree();
    const head = { size, root: plainRoot(leaves, size) };
    assertEquals([size, hex(tiles.builder.root())], [size, hex(head.root)]);
    // Some indices and older sizes for each size, and different ones each time.
    for (const index of [0, size - 1, size * 7 % 1_009 % size, size * 31 % 997 % size]) {
      if (!(index >= 0 && index < size)) continue;
      const proof = tree.inclusionProof(index);
      assertEquals(hex(tree.leaf(index)), hex(leaves[index]));
      assert(isIncluded(leaves[index], index, head, proof));
    }
    for (const old of new Set([0, 1, 255, 256, 257, size - 1, size, size * 13 % 1_013])) {
      if (old < 0 || old > size) continue;
      const oldHead = { size: old, root: plainRoot(leaves, old) };
      assert(isConsistent(oldHead, head, tree.consistencyProof(old)), `${old} in ${size}`);
    }
  }
});

/** Roots by their range. They never change, because leaves are only added. */
const ROOTS = new Map<string, Uint8Array>();

/** MTH(D[start:end]) of RFC 6962, section 2.1, as a recursive function of all leaves. */
function plainRoot(leaves: Uint8Array[], end: number, start = 0): Uint8Array {
  const size = end - start;
  if (size === 0) return EMPTY_ROOT;
  if (size === 1) return leaves[start];
  return ROOTS.getOrInsertComputed(`${start}:${end}`, () => {
    const middle = start + 2 ** (Math.ceil(Math.log2(size)) - 1);
    const [left, right] = [plainRoot(leaves, middle, start), plainRoot(leaves, end, middle)];
    return Uint8Array.fromHex(hash("sha256", Uint8Array.of(1, ...left, ...right), "hex"));
  });
}

Deno.test("a proof that was altered, cut, lengthened or is of another leaf proves nothing", () => {
  const tiles = new Tiles();
  const push = (size: number) => {
    while (tiles.builder.size < size) tiles.push(lineHash(tiles.builder.size));
    return { size, root: tiles.builder.root() };
  };
  const [old, head] = [push(300), push(700)];
  const tree = tiles.tree();
  const altered = (proof: Uint8Array[]) => proof.map((hash) => hash.with(0, hash[0] ^ 1));
  const inclusion = tree.inclusionProof(300);
  for (const bad of [altered(inclusion), inclusion.slice(1), [...inclusion, old.root], []]) {
    assert(!isIncluded(tree.leaf(300), 300, head, bad));
  }
  assert(!isIncluded(tree.leaf(699), 700, head, tree.inclusionProof(699)));
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
