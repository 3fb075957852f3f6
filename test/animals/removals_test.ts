import { assertEquals } from "@std/assert";
import { Removals } from "../../src/animals/removals.ts";

Deno.test("Removals have what was added and not ended, last first, from any position on", () => {
  const removals = new Removals([30, 10, 20], 30);
  assertEquals([removals.size, removals.changedAt], [3, 30]);
  assertEquals(removals.before(Infinity, 2), [30, 20]);
  assertEquals(removals.before(20, 2), [10]);
  assertEquals(removals.before(10, 2), []);
  removals.add(31);
  removals.end(20, 32);
  assertEquals(removals.before(Infinity, 10), [31, 30, 10]);
  assertEquals([removals.size, removals.changedAt], [3, 32]);
});

Deno.test("Removals take an event again that a fill has seen already", () => {
  const removals = new Removals([10, 40], 30);
  removals.end(20, 35);
  removals.add(40);
  assertEquals(removals.before(Infinity, 10), [40, 10]);
  assertEquals(removals.changedAt, 40);
});

Deno.test("Removals keep their order over many additions and ends", () => {
  const removals = new Removals();
  let expected: number[] = [];
  for (let position = 1; position <= 2_000; position++) {
    const isEnd = position % 3 === 0 && expected.length > 0;
    if (isEnd) {
      const ended = expected[position * 7 % expected.length];
      removals.end(ended, position);
      expected = expected.filter((it) => it !== ended);
    } else {
      removals.add(position);
      expected.push(position);
    }
  }
  assertEquals(removals.before(Infinity, Infinity), expected.toReversed());
  const middle = expected[Math.trunc(expected.length / 2)];
  const before = expected.filter((it) => it < middle).slice(-5).reverse();
  assertEquals(removals.before(middle, 5), before);
});
