import { BLOCKS } from "eventstore-less/projections/column.ts";

/** Makes blocks small, so that a short log stores several. It holds for the test file or the process that calls it. */
export function useSmallBlocks(sizes: typeof BLOCKS): void {
  Object.assign(BLOCKS, sizes);
}
