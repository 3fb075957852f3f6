import type { Commit, ListOptions, Store, StoreEntry } from "../../src/store/store.ts";
import { NotAttemptedError } from "../../src/store/store_errors.ts";

/** What becomes of one commit: `land` makes it, and what the fate resolves to is what its maker is told. */
export type Fate = (land: () => Promise<string | null>) => Promise<string | null>;

/** What a store may do to a commit, beside what it should. */
export const FATES = {
  lands: (land) => land(),
  landsAndConflicts: async (land) => {
    await land();
    return null;
  },
  landsAndFails: async (land) => {
    await land();
    throw new TypeError("error sending request");
  },
  landsAndHangs: async (land) => {
    await land();
    return await new Promise(() => {});
  },
  fails: () => Promise.reject(new TypeError("error sending request")),
  isLocked: () => Promise.reject(new NotAttemptedError("The store is locked")),
  hangs: () => new Promise(() => {}),
} as const satisfies Record<string, Fate>;

/** A store whose commits go as the script says, and well when it is at its end. */
export class ScriptedStore implements Store {
  /** The fates of the next commits, in order. */
  script: Fate[] = [];
  /** The fate of all commits that the script leaves out. */
  otherwise: Fate = FATES.lands;
  /** What becomes of the reads: may hold one up before or after it has looked, or make it fail. */
  onRead: <T>(look: () => Promise<T>) => Promise<T> = (look) => look();
  /** What was to be committed so far. */
  readonly commits: Commit[] = [];
  /** How many reads of single keys, and of ranges, there were. */
  readonly reads = { gets: 0, lists: 0 };
  #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    this.reads.gets++;
    return this.onRead(() => this.#store.get(key));
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    this.reads.lists++;
    return this.onRead(() => this.#store.list(range, options));
  }

  commit(commit: Commit): Promise<string | null> {
    this.commits.push(commit);
    const fate = this.script.shift() ?? this.otherwise;
    return fate(() => this.#store.commit(commit));
  }

  close(): void {
    this.#store.close();
  }
}

/** A fate that waits to be told how the commit goes on. */
export function heldCommit() {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const fate: Fate = async (land) => {
    begin();
    await released;
    return await land();
  };
  return { fate, begun, release };
}
