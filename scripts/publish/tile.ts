/** Tiles: files with up to 256 hashes of one level of the tree (https://c2sp.org/tlog-tiles). */

/** Most hashes of a tile, and most entries of a bundle. */
export const TILE_WIDTH = 256;

/**
 * The path of a tile in the published folder, or of the bundle with the entries of a tile of level 0. Less than a
 * full width makes it a partial one. Level 0 has the hashes of lines; a hash of level N + 1 is the root of a full
 * tile of level N.
 */
export function tilePath(
  level: number | "entries",
  index: number,
  width: number = TILE_WIDTH,
): string {
  const groups: string[] = [];
  for (let rest = index; groups.length === 0 || rest > 0; rest = Math.floor(rest / 1_000)) {
    const prefix = groups.length === 0 ? "" : "x";
    groups.unshift(prefix + String(rest % 1_000).padStart(3, "0"));
  }
  const path = `tile/${level}/${groups.join("/")}`;
  return width === TILE_WIDTH ? path : `${path}.p/${width}`;
}

/** Number of hashes on a level of a tree of that size. */
export function hashesOn(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** Number of hashes of a tile in a tree of that size. It is 0 or less if the tree does not have the tile. */
export function widthOf(level: number, index: number, size: number): number {
  return Math.min(TILE_WIDTH, hashesOn(level, size) - index * TILE_WIDTH);
}
