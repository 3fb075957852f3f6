import { assertEquals, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { withSecondTry } from "./second_try.ts";

/** Runs attempts of which the first ones fail; returns their number and the lines that were printed. */
async function run(failures: number): Promise<{ attempts: number; lines: unknown[] }> {
  let attempts = 0;
  const lines: unknown[] = [];
  using _ = stub(console, "log", (line) => void lines.push(line));
  await withSecondTry("a list", () => {
    attempts++;
    if (attempts <= failures) return Promise.reject(new Error(`no ${attempts}\nand more`));
    return Promise.resolve();
  });
  return { attempts, lines };
}

Deno.test("withSecondTry() repeats only a failed attempt, once, and says so", async () => {
  assertEquals(await run(0), { attempts: 1, lines: [] });
  const lines = ['Second try of "a list": Error: no 1'];
  assertEquals(await run(1), { attempts: 2, lines });
  await assertRejects(() => run(2), Error, "no 2");
});
