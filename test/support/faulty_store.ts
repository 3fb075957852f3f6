import {
  NotAppliedError,
  StoreFailingError,
  StoreFullError,
  StoreRefusedError,
} from "../../src/eventstore_less/store/store_errors.ts";
import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
} from "../../src/eventstore_less/store/store.ts";

/** Replaces a call of a store. `apply` makes the real call, and the caller gets the result of the fault. */
type Fault<Call extends (...args: never[]) => unknown, More extends unknown[] = []> = (
  apply: () => ReturnType<Call>,
  ...args: [...Parameters<Call>, ...More]
) => ReturnType<Call>;

/** `number` counts the recorded commits of the store from 1. */
export type CommitFault = Fault<Store["commit"], [number: number]>;

export interface Faults {
  onGet: Fault<Store["get"]>;
  onList: Fault<Store["list"]>;
  onSnapshot: Fault<Store["snapshot"]>;
  onCommit: CommitFault;
}

/** A store whose calls are recorded, and go through faults that a test may replace at any time. */
export interface FaultyStore extends Store, Faults {
  /** Faults of the next commits, in order. A commit beyond them goes through `onCommit`. */
  nextCommits: CommitFault[];
  /** The keys of get() and snapshot(), and the ranges of list() and snapshot(). */
  readonly gets: Key[];
  readonly lists: KeyRange[];
  readonly snapshots: { keys: readonly Key[]; ranges: readonly KeyRange[] }[];
  readonly commits: Commit[];
  /** The store without faults. */
  readonly inner: Store;
}

/** Decorates a store. Without faults, every call is only recorded. A test may close it before its service does. */
export function faultyStore(inner: Store, faults: Partial<Faults> = {}): FaultyStore {
  const passOn = <T>(apply: () => Promise<T>) => apply();
  let isClosed = false;
  const own: Omit<FaultyStore, "limits"> = {
    nextCommits: [],
    gets: [],
    lists: [],
    snapshots: [],
    commits: [],
    inner,
    onGet: passOn,
    onList: passOn,
    onSnapshot: passOn,
    onCommit: passOn,
    ...faults,
    get(key: Key) {
      own.gets.push(key);
      return own.onGet(() => inner.get(key), key);
    },
    list(range: KeyRange, options: ListOptions) {
      own.lists.push(range);
      return own.onList(() => inner.list(range, options), range, options);
    },
    snapshot(keys: readonly Key[], ranges: readonly KeyRange[], options: ListOptions) {
      own.snapshots.push({ keys, ranges });
      own.gets.push(...keys);
      own.lists.push(...ranges);
      return own.onSnapshot(() => inner.snapshot(keys, ranges, options), keys, ranges, options);
    },
    commit(commit: Commit) {
      const number = own.commits.push(commit);
      const fault = own.nextCommits.shift() ?? own.onCommit;
      return fault(() => inner.commit(commit), commit, number);
    },
    close() {
      if (!isClosed) inner.close();
      isClosed = true;
    },
  };
  // Whatever else the port has is the inner store's.
  return new Proxy(own as FaultyStore, {
    get(_, name) {
      if (name in own) return Reflect.get(own, name);
      const value = Reflect.get(inner, name);
      return typeof value === "function" ? value.bind(inner) : value;
    },
  });
}

const fail = () => Promise.reject(new TypeError("error sending request"));

export const COMMIT_FAULTS = {
  lands: (apply) => apply(),
  landsAndConflicts: (apply) => apply().then(() => null),
  landsAndFails: (apply) => apply().then(fail),
  fails: fail,
  isRefused: () => Promise.reject(new StoreRefusedError("The commit is too large")),
  isFull: () => Promise.reject(new StoreFullError()),
  isFailing: () => Promise.reject(new StoreFailingError()),
  isLocked: () => Promise.reject(new NotAppliedError("The store is locked")),
  hangs: () => new Promise(() => {}),
} as const satisfies Record<string, CommitFault>;

export function atCommit(number: number, fault: CommitFault): CommitFault {
  return (apply, commit, current) => current === number ? fault(apply, commit, current) : apply();
}

/** A fault that holds a call from the moment `reached` until `release()`: before or after it takes effect. */
export function hold(when: "before" | "after" = "before") {
  const { promise: reached, resolve: onReached } = Promise.withResolvers<void>();
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const wait = () => {
    onReached();
    return released;
  };
  const fault = async <T>(apply: () => Promise<T>): Promise<T> => {
    if (when === "before") await wait();
    const result = await apply();
    if (when === "after") await wait();
    return result;
  };
  return { fault, reached, release };
}

/** A store whose process is killed at the commit with that number, which lands or not. `killed` resolves then. */
export function dyingStore(inner: Store, at: number, isApplied: boolean) {
  const { promise: killed, resolve } = Promise.withResolvers<undefined>();
  const store = faultyStore(inner, {
    async onCommit(apply, _commit, number) {
      if (number < at) return await apply();
      if (isApplied) await apply();
      resolve(undefined);
      return await new Promise<never>(() => {});
    },
  });
  return { store, killed };
}
