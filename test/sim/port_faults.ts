/** Faults that mutants inject through ports. They name no text of a source, so they survive a change of the code. */

import type { EventBody } from "../../events/all_events.ts";
import type { Command } from "../../src/eventstore_less/append/command.ts";
import { GUARD_KEYS, HEAD_KEY, REPLAY_KEY } from "../../src/eventstore_less/keyspace.ts";
import type { Guard, Key, Mutation, Store } from "../../src/eventstore_less/store/store.ts";
import {
  NotAppliedError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../src/eventstore_less/store/store_errors.ts";
import type { Service, ServiceOptions } from "../../src/service.ts";
import type { Code } from "./code_under_test.ts";

/** Returns the code with a fault. */
export type Inject = (code: Code) => Code;

/** The faults, by the names of their mutants. */
export const PORT_FAULTS: Record<string, Inject> = {
  "a commit does not check the head": beforeStart(({ store }) => {
    override(store, { commit: (commit) => withoutCheck(store, HEAD_KEY, commit) });
  }),
  "a lost commit is not retried": beforeStart(({ store }) => {
    override(store, {
      commit: (commit) => async (it) => {
        const versionstamp = await commit(it);
        if (versionstamp === null) throw new StoreRefusedError("A check failed");
        return versionstamp;
      },
    });
  }),
  "an unclear commit counts as not applied": beforeStart(({ store }) => {
    override(store, {
      commit: (commit) => (it) =>
        commit(it).catch((error) => {
          throw error instanceof UnclearOutcomeError ? new NotAppliedError(error.message) : error;
        }),
    });
  }),
  "a snapshot is read part by part": beforeStart(({ store }) => {
    override(store, {
      snapshot: () => async (keys, ranges, options) => {
        const entries = await Promise.all(keys.map((key) => store.get(key)));
        const lists = await Promise.all(ranges.map((range) => store.list(range, options)));
        return { entries, lists };
      },
    });
  }),
  "a request joins a head read that is already in flight": afterStart(({ heads }) => {
    let reading: ReturnType<typeof heads.fresh> | undefined;
    override(heads, {
      fresh: (fresh) => () => reading ??= fresh().finally(() => reading = undefined),
    });
  }),
  "the head is cached and not read again": afterStart(({ heads }) => {
    override(heads, {
      fresh: (fresh) => () => heads.latest === undefined ? fresh() : Promise.resolve(heads.latest),
    });
  }),
  "data read from a removed generation is returned": afterStart(({ heads }) => {
    override(heads, { use: () => (work) => heads.fresh().then(work) });
  }),
  "a commit that landed is appended again": afterStart(({ appender }) => {
    override(appender, {
      append: (append) => async (command) => {
        const appended = await append(command);
        await append(command).catch(() => {});
        return appended;
      },
    });
  }),
  "a command is not prepared again after the head changed": withCommands((command) => {
    let prepared: ReturnType<typeof command.prepare> | undefined;
    return { ...command, prepare: (base, notes) => prepared ??= command.prepare(base, notes) };
  }),
  "a pet is created after a key event within one commit": withCommands((command) => {
    return { ...command, endsCommit: undefined };
  }),
  "two changes of a pet are decided on the same state": withCommands((command) => {
    return { ...command, decide: (head, prepared) => command.decide(head, prepared) };
  }),
  "two concurrent requests with one Idempotency-Key share a commit": withCommands((command) => {
    return { ...command, idempotencyKey: undefined };
  }),
  "a replay writes without checking its claim": inTool(
    "replay",
    (store, commit) => withoutCheck(store, REPLAY_KEY, commit),
  ),
  "a replay overwrites a head that has moved": inTool(
    "replay",
    (store, commit) => withoutCheck(store, HEAD_KEY, commit),
  ),
  "a restore counts lines before the commit of their records": inTool("restore", inTwoCommits),
};

type Commit = Store["commit"];

/** Changes what each instance, and each tool that is one, gets. */
function beforeStart(change: (options: ServiceOptions) => void): Inject {
  return (code) => ({
    ...code,
    createService(options) {
      change(options);
      return code.createService(options);
    },
  });
}

/** Changes each instance. */
function afterStart(change: (service: Service) => void): Inject {
  return (code) => ({
    ...code,
    createService(options) {
      const service = code.createService(options);
      change(service);
      return service;
    },
  });
}

/** Changes the commands that the appender of each instance gets. */
function withCommands(
  change: <Prepared>(
    command: Command<Prepared, EventBody>,
  ) => Command<Prepared, EventBody>,
): Inject {
  return afterStart(({ appender }) => {
    override(appender, { append: (append) => (command) => append(change(command)) });
  });
}

/** Changes the commits of a tool. */
function inTool(
  name: "replay" | "restore",
  change: (store: Store, commit: Commit) => Commit,
): Inject {
  return (code) => {
    const tool = code[name] as (deps: { store: Store }, ...rest: unknown[]) => unknown;
    const faulty: typeof tool = (deps, ...rest) => {
      override(deps.store, { commit: (commit) => change(deps.store, commit) });
      return tool(deps, ...rest);
    };
    return { ...code, [name]: faulty };
  };
}

/** Accepts whatever version the guard with that key has. */
function withoutCheck(store: Store, [name]: Key, commit: Commit): Commit {
  return async ({ guard, mutations }) => {
    if (guard.key[0] !== name) return await commit({ guard, mutations });
    return await commit({ guard: await currentGuard(store, guard.key), mutations });
  };
}

async function currentGuard(store: Store, key: Key): Promise<Guard> {
  const entry = await store.get(key);
  return { key, versionstamp: entry?.versionstamp ?? null };
}

/** Commits what guards the records, and then the records. */
function inTwoCommits(store: Store, commit: Commit): Commit {
  const isGuard = ({ key }: Mutation) => GUARD_KEYS.some(([name]) => key[0] === name);
  return async ({ guard, mutations }) => {
    const versionstamp = await commit({ guard, mutations: mutations.filter(isGuard) });
    const records = mutations.filter((mutation) => !isGuard(mutation));
    if (versionstamp === null || records.length === 0) return versionstamp;
    const first = await currentGuard(store, records[0].key);
    await commit({ guard: first, mutations: records });
    return versionstamp;
  };
}

/** Replaces methods of an object, each by one that may call it. */
function override<T extends object>(
  target: T,
  replacements: { [Name in keyof T]?: (real: T[Name]) => T[Name] },
): void {
  for (const name of Object.keys(replacements) as (keyof T)[]) {
    const real = target[name];
    target[name] = replacements[name]!(real instanceof Function ? real.bind(target) : real);
  }
}
