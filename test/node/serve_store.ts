/**
 * Opens a `SqliteStore` on Node from its sources, and makes the calls of a test on Deno: each line on standard input is
 * one, and its outcome is a line on standard output, in the same order.
 *
 *     node test/node/serve_store.ts FILE
 */

import process from "node:process";
import { createInterface } from "node:readline";
import "./load_sources.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { fromLine, type StoreCall, type StoreOutcome, toLine } from "./store_messages.ts";

await import("../../src/runtime/node/bytes_as_text.ts");
const { SqliteStore } = await import("../../src/eventstore_less/store/sqlite/sqlite_store.ts");

const store: Store = await SqliteStore.open(process.argv[2], 0);
let outcomes: Promise<unknown> = Promise.resolve();
for await (const line of createInterface({ input: process.stdin })) {
  const { name, args } = fromLine(line) as StoreCall;
  const outcome = outcomeOf(async () =>
    await (store[name] as (...all: unknown[]) => unknown)(...args)
  );
  outcomes = outcomes.then(async () => process.stdout.write(`${toLine(await outcome)}\n`));
}

async function outcomeOf(call: () => Promise<unknown>): Promise<StoreOutcome> {
  try {
    return { result: await call() ?? null };
  } catch (error) {
    const { name, message } = error as Error;
    return { error: { name, message } };
  }
}
