import { BLOCKS } from "eventstore-less/projections/column.ts";

/** Makes blocks so small that a short log stores some, in the process or test file that calls it. */
export function useSmallBlocks({ length = 8, storedAfter = 8 } = {}): void {
  BLOCKS.length = length;
  BLOCKS.storedAfter = storedAfter;
}
