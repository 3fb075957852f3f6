/** Many writes of animals, in batches that are sent one after the other. */

import type { NewPet, Pet } from "../../../events/pet.ts";
import { parseJson, request, ResponseError, writeOptions } from "./api.ts";
import type { Patch } from "./fields.ts";

/** The most operations of one request, and the most bytes for them, with some room: the limits of the interface. */
const OPERATIONS_MAX = 100;
const BYTES_MAX = 60_000;

/** A write as an operation of a batch. */
export interface Operation {
  action: "add" | "change" | "remove" | "restore";
  /** The animal as the reader sees it; absent for an addition. If it is another one by now, nothing is done. */
  expected?: Pet;
  fields?: NewPet | Patch;
  /** Makes a later import of the same animal add nothing. */
  idempotencyKey?: string;
}

/** What the service says of an operation. */
export interface Answer<Item> {
  item: Item;
  /** The animal after the write; absent if there is none, and after an error. */
  pet?: Pet;
  error?: Error;
  /** Whether another request has done it before. */
  wasDone: boolean;
}

interface Result {
  status: number;
  replayed?: true;
  body?: unknown;
}

/**
 * Sends the operations of all items, and yields the answers to each batch. If a batch is refused, each of its items has this
 * error. No batch is sent after the end of the iteration.
 */
export async function* sendInBatches<Item>(
  items: readonly Item[],
  operationOf: (item: Item) => Operation,
): AsyncGenerator<Answer<Item>[]> {
  for (const { some, body } of batchesOf(items, operationOf)) {
    try {
      yield await sendBatch(some, body);
    } catch (thrown) {
      const error = thrown as Error;
      yield some.map((item) => ({ item, error, wasDone: false }));
    }
  }
}

async function sendBatch<Item>(items: readonly Item[], body: string): Promise<Answer<Item>[]> {
  const options = { ...writeOptions("POST"), body, outcomesOf: resultsIn };
  const { body: { results }, isUnclear } = await request<{ results: Result[] }>(
    "pets/batch",
    options,
  );
  return items.map((item, index) => {
    const { status, replayed, body } = results[index];
    if (status >= 400) {
      const error = new ResponseError(status, body as ResponseError);
      return { item, error, wasDone: false };
    }
    // After a lost response, the earlier request may be an earlier try of this one.
    return { item, pet: body as Pet | undefined, wasDone: replayed === true && !isUnclear };
  });
}

function resultsIn(text: string): Result[] {
  return parseJson(text).results;
}

/** The items of each batch, and its body. */
function* batchesOf<Item>(items: readonly Item[], operationOf: (item: Item) => Operation) {
  const encoder = new TextEncoder();
  let some: Item[] = [];
  let texts: string[] = [];
  let bytes = 0;
  const batch = () => ({ some, body: `{"operations":[${texts.join()}]}` });
  for (const item of items) {
    const text = formatOperation(operationOf(item));
    const { length } = encoder.encode(text);
    if (some.length === OPERATIONS_MAX || bytes + length > BYTES_MAX) {
      yield batch();
      some = [];
      texts = [];
      bytes = 0;
    }
    some.push(item);
    texts.push(text);
    bytes += length + 1;
  }
  if (some.length > 0) yield batch();
}

// TypeScript does not declare rawJSON yet (https://github.com/tc39/proposal-json-parse-with-source).
const { rawJSON: rawJson } = JSON as unknown as { rawJSON(text: string): unknown };

function formatOperation({ action, expected, fields, idempotencyKey }: Operation): string {
  const operation = { action, petId: expected?.id, expected, idempotencyKey, body: fields };
  // The animal may have fields that this page does not know.
  const exact = (_: string, value: unknown) => {
    return typeof value === "bigint" ? rawJson(String(value)) : value;
  };
  return JSON.stringify(operation, exact);
}
