import { assertEquals } from "@std/assert";
import { Turns } from "../../src/log/turns.ts";
import { FakeHost } from "../fake_host.ts";

const COMMIT_MS = 40;

Deno.test("Turns: who has met nobody goes on without a pause", () => {
  const turns = new Turns(new FakeHost());
  for (let commit = 0; commit < 16; commit++) assertEquals(turns.win(COMMIT_MS), 0);
});

Deno.test("Turns: who has won for half a second and 16 commits lets others go first for once", async () => {
  const host = new FakeHost();
  const turns = new Turns(host);
  const pauses: number[] = [];
  for (let commit = 0; commit < 40; commit++) {
    await host.advance(COMMIT_MS);
    pauses.push(turns.win(COMMIT_MS));
  }
  const made = pauses.filter((pause) => pause > 0);
  assertEquals(made, [2 * COMMIT_MS, 2 * COMMIT_MS]);
});

Deno.test("Turns: who wins after losses waits for as many commits as it lost, up to four", () => {
  const turns = new Turns(new FakeHost());
  for (const losses of [1, 3, 4, 9]) {
    for (let loss = 0; loss < losses; loss++) turns.lose();
    assertEquals(turns.win(COMMIT_MS), Math.min(4, losses) * COMMIT_MS);
  }
});

Deno.test("Turns: others who were met are let go first for two seconds", async () => {
  const host = new FakeHost();
  const turns = new Turns(host);
  assertEquals(turns.areOthersNear, false);
  turns.lose();
  turns.win(COMMIT_MS);
  assertEquals(turns.win(COMMIT_MS), COMMIT_MS);
  assertEquals(turns.areOthersNear, true);
  await host.advance(2_000);
  assertEquals(turns.win(COMMIT_MS), 0);
  assertEquals(turns.areOthersNear, false);
});

Deno.test("Turns: no pause is longer than half a second, however long the commits take", () => {
  const turns = new Turns(new FakeHost());
  turns.lose();
  assertEquals(turns.win(60_000), 500);
});

Deno.test("Turns: who lost six times in a row is starving, and again after six more", () => {
  const turns = new Turns(new FakeHost());
  const starving: number[] = [];
  for (let losses = 1; losses <= 13; losses++) {
    turns.lose();
    if (turns.isStarving) starving.push(losses);
  }
  assertEquals(starving, [6, 12]);
  turns.win(COMMIT_MS);
  assertEquals(turns.isStarving, false);
});
