import { assertEquals } from "@std/assert";
import {
  NotAppliedError,
  StoreAwayError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../src/store/store_errors.ts";
import {
  type CommitOutcome,
  commitUntilKnown,
  type GuardedCommit,
} from "../../src/store/commit_until_known.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";

type Guard = { versionstamp: string | null } | null;
type Answer = string | null | Error;

/** Runs commitUntilKnown() on scripted answers of the store. The last guard is read again and again. */
async function outcomeOf(
  commits: Answer[],
  guards: (Guard | Error)[],
  options: Partial<GuardedCommit<Guard>> = {},
): Promise<{ outcome: CommitOutcome; commits: number; reads: number; failures: string[] }> {
  const runtime = new FakeRuntime();
  const failures: string[] = [];
  let made = 0;
  let reads = 0;
  const given = <T>(answer: T | Error): Promise<T> =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as T);
  const running = commitUntilKnown<Guard>(runtime, {
    guard: "1",
    commit: () => given(commits[Math.min(made++, commits.length - 1)]),
    readGuard: () => given(guards[Math.min(reads++, guards.length - 1)]),
    hasLanded: (guard) => guard?.versionstamp === "mine",
    isOver: () => made >= 5,
    onFailure: (step) => failures.push(step),
    ...options,
  });
  let outcome: CommitOutcome | undefined;
  running.then((known) => outcome = known);
  while (outcome === undefined) await runtime.advance(300);
  return { outcome, commits: made, reads, failures };
}

const LOST = new Error("connection reset");
const LOCKED = new NotAppliedError("The store is locked");
const REFUSED = new StoreRefusedError("too large");
const MINE = { versionstamp: "mine" };
const UNCHANGED = { versionstamp: "1" };

interface Case {
  /** The answers to the commits, and to the reads of the guard. */
  commits: Answer[];
  guards?: (Guard | Error)[];
  options?: Partial<GuardedCommit<Guard>>;
  state: CommitOutcome["state"];
  /** The numbers of commits and of reads that were made. */
  made?: [commits: number, reads: number];
}

const others = { checksOthers: true };
const atOnce = { isOver: (isUnclear: boolean) => !isUnclear };
const isGone = { hasLanded: (guard: Guard) => guard === null };

const CASES: Record<string, Case> = {
  "a confirmed commit": { commits: ["2"], state: "landed", made: [1, 0] },
  "a lock, then a confirmed commit": { commits: [LOCKED, "2"], state: "landed", made: [2, 0] },
  "a store that is away, then a confirmed commit": {
    commits: [new StoreAwayError("refused"), "2"],
    state: "landed",
    made: [2, 0],
  },
  "only locks, until the time is over": {
    commits: [LOCKED],
    options: atOnce,
    state: "not_applied",
    made: [1, 0],
  },
  "a refusal": { commits: [REFUSED], state: "refused", made: [1, 0] },
  "another check that failed": {
    commits: [null],
    guards: [UNCHANGED],
    options: others,
    state: "check_failed",
    made: [1, 1],
  },
  "a lost answer, then another check that failed": {
    commits: [LOST, null],
    guards: [UNCHANGED],
    options: others,
    state: "check_failed",
    made: [2, 2],
  },
  "a lost answer and no read, then locks": {
    commits: [LOST, LOCKED],
    guards: [LOST],
    state: "unclear",
  },
  "a lost answer, then a failed read": {
    commits: [LOST],
    guards: [LOST, MINE],
    state: "landed",
    made: [2, 2],
  },
};
// What an unclear answer means only the guard can tell.
for (
  const [name, answer] of Object.entries({
    "a failed check": null,
    "a lost answer": LOST,
    "an unclear outcome": new UnclearOutcomeError("reset"),
  })
) {
  Object.assign<typeof CASES, typeof CASES>(CASES, {
    [`${name}, and our guard`]: {
      commits: [answer],
      guards: [MINE],
      state: "landed",
      made: [1, 1],
    },
    [`${name}, and the guard of another`]: {
      commits: [answer],
      guards: [{ versionstamp: "2" }],
      state: "lost",
      made: [1, 1],
    },
    [`${name}, and a guard that we removed`]: {
      commits: [answer],
      guards: [null],
      options: isGone,
      state: "landed",
    },
    [`${name} twice, and an unchanged guard`]: {
      commits: [answer, answer, "2"],
      guards: [UNCHANGED],
      state: "landed",
      made: [3, 2],
    },
    [`${name}, then a refusal, and our guard`]: {
      commits: [answer, REFUSED],
      guards: [UNCHANGED, MINE],
      state: "landed",
    },
    [`${name}, then refusals, and an unchanged guard`]: {
      commits: [answer, REFUSED],
      guards: [UNCHANGED],
      state: "unclear",
    },
  });
}

for (const [name, { commits, guards = [], options, state, made }] of Object.entries(CASES)) {
  Deno.test(`commitUntilKnown(): after ${name}, the outcome is ${state}`, async () => {
    const { outcome, ...calls } = await outcomeOf(commits, guards, options);
    assertEquals(outcome.state, state);
    if (made !== undefined) assertEquals([calls.commits, calls.reads], made);
  });
}

Deno.test("commitUntilKnown() returns the versionstamp, or the cause, and reports each failure", async () => {
  const versionstamps = [["2"], [LOST]].map(async (commits) => {
    const { outcome } = await outcomeOf(commits, [MINE]);
    return outcome.state === "landed" && outcome.versionstamp;
  });
  assertEquals(await Promise.all(versionstamps), ["2", "mine"]);
  const { outcome } = await outcomeOf([LOCKED], [], atOnce);
  assertEquals(outcome, { state: "not_applied", cause: LOCKED });
  const { failures } = await outcomeOf([LOST, LOCKED], [LOST]);
  assertEquals(failures.slice(0, 4), ["commit", "read_back", "commit", "read_back"]);
});
