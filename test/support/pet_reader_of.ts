import { APPLICATION } from "../../src/application.ts";
import { PetReader, type PetReaderDeps } from "../../src/animals/pet_reader.ts";
import { PetIndexReader } from "../../src/animals/pet_index_reader.ts";
import { HeadReader } from "../../src/eventstore_less/log/head_reader.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { FakeRuntime } from "eventstore-less/testing";

/** A reader of pets without limits, whose clock stands still. */
export function petReaderOf(store: Store, deps: Partial<PetReaderDeps> = {}): PetReader {
  const runtime = new FakeRuntime();
  const heads = new HeadReader(APPLICATION, store, runtime);
  const turn = () => Promise.resolve();
  return new PetReader({
    categoryNames: { asOf: () => Promise.resolve(new Map()), changedAt: () => 0 },
    heads,
    index: new PetIndexReader({ heads, store, runtime, report: () => {}, turn }),
    store,
    monotonicNow: () => 0,
    turn,
    isRestDue: () => false,
    storeDamage: () => undefined,
    ...deps,
  });
}
