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

const LOST_ANSWER = new Error("connection reset");
const LOCKED = new NotAppliedError("The store is locked");

Deno.test("commitUntilKnown() returns the versionstamp of a confirmed commit without a read", async () => {
  const { outcome, reads } = await outcomeOf(["2"], []);
  assertEquals(outcome, { state: "landed", versionstamp: "2" });
  assertEquals(reads, 0);
});

for (const answer of [null, LOST_ANSWER]) {
  const after = answer === null ? "a failed check" : "a lost answer";
  Deno.test(`commitUntilKnown() finds a landed commit after ${after}`, async () => {
    const { outcome, commits } = await outcomeOf([answer], [{ versionstamp: "mine" }]);
    assertEquals(outcome, { state: "landed", versionstamp: "mine" });
    assertEquals(commits, 1);
  });

  Deno.test(`commitUntilKnown() finds that another commit came first after ${after}`, async () => {
    const { outcome, commits } = await outcomeOf([answer], [{ versionstamp: "2" }]);
    assertEquals(outcome, { state: "lost" });
    assertEquals(commits, 1);
  });

  Deno.test(`commitUntilKnown() finds a removed guard after ${after}`, async () => {
    const { outcome } = await outcomeOf([answer], [null], { hasLanded: (guard) => guard === null });
    assertEquals(outcome, { state: "landed", versionstamp: null });
  });

  Deno.test(`commitUntilKnown() repeats the commit while the guard is unchanged after ${after}`, async () => {
    const { outcome, commits } = await outcomeOf([answer, answer, "2"], [{ versionstamp: "1" }]);
    assertEquals(outcome, { state: "landed", versionstamp: "2" });
    assertEquals(commits, 3);
  });
}

Deno.test("commitUntilKnown() reports that another check failed", async () => {
  const unchanged = [{ versionstamp: "1" }];
  const failed = await outcomeOf([null], unchanged, { checksOthers: true });
  assertEquals(failed.outcome, { state: "check_failed" });
  const unclear = await outcomeOf([LOST_ANSWER, null], unchanged, { checksOthers: true });
  assertEquals([unclear.outcome.state, unclear.commits], ["check_failed", 2]);
});

Deno.test("commitUntilKnown() reads no guard while no attempt can have landed", async () => {
  const { outcome, reads } = await outcomeOf([LOCKED, LOCKED, "2"], []);
  assertEquals(outcome, { state: "landed", versionstamp: "2" });
  assertEquals(reads, 0);
});

Deno.test("commitUntilKnown() ends as not applied if no attempt had an effect", async () => {
  const { outcome, commits } = await outcomeOf([LOCKED], [], {
    isOver: (isUnclear) => !isUnclear,
  });
  assertEquals(outcome, { state: "not_applied", cause: LOCKED });
  assertEquals(commits, 1);
});

Deno.test("commitUntilKnown() ends as unclear if one attempt may have landed", async () => {
  const { outcome, failures } = await outcomeOf([LOST_ANSWER, LOCKED], [LOST_ANSWER]);
  assertEquals(outcome.state, "unclear");
  assertEquals(failures.slice(0, 4), ["commit", "read_back", "commit", "read_back"]);
});

Deno.test("commitUntilKnown() ends at once if the store refuses the commit", async () => {
  const refusal = new StoreRefusedError("too large");
  const { outcome, commits, reads } = await outcomeOf([refusal], []);
  assertEquals(outcome, { state: "refused", cause: refusal });
  assertEquals([commits, reads], [1, 0]);
});

Deno.test("commitUntilKnown() does not take a refusal for the outcome of an earlier attempt", async () => {
  const refusal = new StoreRefusedError("no rights");
  const unchanged = { versionstamp: "1" };
  for (const first of [LOST_ANSWER, new UnclearOutcomeError("reset"), null]) {
    const landed = await outcomeOf([first, refusal], [unchanged, { versionstamp: "mine" }]);
    assertEquals(landed.outcome, { state: "landed", versionstamp: "mine" });
    assertEquals((await outcomeOf([first, refusal], [unchanged])).outcome.state, "unclear");
  }
});

Deno.test("commitUntilKnown() reads no guard while the store is away", async () => {
  const { outcome, reads } = await outcomeOf([new StoreAwayError("refused"), "2"], []);
  assertEquals(outcome, { state: "landed", versionstamp: "2" });
  assertEquals(reads, 0);
});

Deno.test("commitUntilKnown() continues after a failed read of the guard", async () => {
  const { outcome } = await outcomeOf([LOST_ANSWER], [LOST_ANSWER, { versionstamp: "mine" }]);
  assertEquals(outcome, { state: "landed", versionstamp: "mine" });
});
