import { readHead } from "eventstore-less/log/head.ts";
import { PetReader, type PetReaderDeps } from "../../src/animals/pet_reader.ts";
import { ColumnReader } from "eventstore-less/projections/column_reader.ts";
import { COLUMNS } from "eventstore-less/tables.ts";
import type { Store } from "eventstore-less/store/store.ts";

/** A reader of pets without limits, whose clock stands still. */
export function petReaderOf(store: Store, deps: Partial<PetReaderDeps> = {}): PetReader {
  return new PetReader({
    column: new ColumnReader(store, COLUMNS[0], () => {}),
    store,
    readNewestHead: () => readHead(store),
    monotonicNow: () => 0,
    beforeRead: () => undefined,
    turn: () => Promise.resolve(),
    isRestDue: () => false,
    ...deps,
  });
}
