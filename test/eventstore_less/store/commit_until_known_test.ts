import { assertEquals } from "@std/assert";
import {
  NotAppliedError,
  StoreAwayError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../../src/eventstore_less/store/store_errors.ts";
import {
  type CommitOutcome,
  commitUntilKnown,
  type GuardedCommit,
} from "../../../src/eventstore_less/store/commit_until_known.ts";
import { FakeRuntime } from "eventstore-less/testing";

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

const AWAY = new StoreAwayError("refused");

type Options = Partial<GuardedCommit<Guard>>;
const atOnce: Options = { isOver: (isUnclear) => !isUnclear };
const isGone: Options = { hasLanded: (guard) => guard === null };

/** Answers to commits and to reads of the guard, the outcome, how many of them were used, and options. */
type Case = [Answer[], (Guard | Error)[], CommitOutcome["state"], [number, number], Options?];

const CASES: Record<string, Case> = {
  "a confirmed commit": [["2"], [], "landed", [1, 0]],
  "a lock, then a confirmed commit": [[LOCKED, "2"], [], "landed", [2, 0]],
  "a store that is away, then a confirmed commit": [[AWAY, "2"], [], "landed", [2, 0]],
  "a lock, when the time is over": [[LOCKED], [], "not_applied", [1, 0], atOnce],
  "a refusal": [[REFUSED], [], "refused", [1, 0]],
  "a lost answer and failed reads": [[LOST, LOCKED], [LOST], "unclear", [5, 5]],
  "a lost answer, then a failed read": [[LOST], [LOST, MINE], "landed", [2, 2]],
};

/** Answers of which only the guard tells what they mean. */
const UNCLEAR: Record<string, Answer> = {
  "a failed check": null,
  "a lost answer": LOST,
  "an unclear outcome": new UnclearOutcomeError("reset"),
};
for (const [name, it] of Object.entries(UNCLEAR)) {
  const ofOther = { versionstamp: "2" };
  CASES[`${name}, and our guard`] = [[it], [MINE], "landed", [1, 1]];
  CASES[`${name}, and the guard of another`] = [[it], [ofOther], "lost", [1, 1]];
  CASES[`${name}, and a guard that we removed`] = [[it], [null], "landed", [1, 1], isGone];
  CASES[`${name} twice, and an unchanged guard`] = [[it, it, "2"], [UNCHANGED], "landed", [3, 2]];
  CASES[`${name}, a refusal, and our guard`] = [[it, REFUSED], [UNCHANGED, MINE], "landed", [2, 2]];
  CASES[`${name}, and refusals`] = [[it, REFUSED], [UNCHANGED], "unclear", [5, 5]];
}

for (const [name, [commits, guards, state, made, options]] of Object.entries(CASES)) {
  Deno.test(`commitUntilKnown(): after ${name}, the outcome is ${state}`, async () => {
    const { outcome, ...calls } = await outcomeOf(commits, guards, options);
    assertEquals([outcome.state, calls.commits, calls.reads], [state, ...made]);
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
