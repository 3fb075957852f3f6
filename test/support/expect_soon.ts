import { assertEquals } from "@std/assert";
import { until } from "./until.ts";

/**
 * Reads until the value is the expected one. A page shows the result of an action, a response or an event some time later,
 * so a single read of a page is right only if nothing can change it any more.
 */
export async function expectSoon<T>(
  read: () => T | Promise<T>,
  expected: T,
  message?: string,
): Promise<void> {
  await until(async () => assertEquals(await read(), expected), message);
}
