/** Parts of stories that several sections tell. */

import { errorOf, type Story } from "./story.ts";

/** Adds an animal, whose id has the given name in the rest of the story. */
export function adds(id: string, body: string): string {
  return `
    > POST /pets
    > ${body}
    < 201
    < {"id":{${id}},…}
  `;
}

/** An animal as it is after the operator has erased its name: this name is the mark of the erasure. */
export const ERASED_REX = '{"name":"(removed)","categoryId":{category}}';

export const ADDS_REX = adds(
  "rex",
  '{"name":"Rex","categoryId":{category},"status":"available"}',
);

/** Refusals of a write of an animal. */
export const GONE = errorOf(
  404,
  "pet_not_found",
  "An animal with this identifier does not exist",
);
export const NOT_REMOVED = errorOf(
  409,
  "pet_not_removed",
  "The animal is there, so it cannot be restored",
);
export const CHANGED = errorOf(
  412,
  "precondition_failed",
  "The animal has changed since you read it: read it again",
);
export const EXCLUDED = errorOf(
  412,
  "precondition_failed",
  "The animal is in a state that If-None-Match excludes",
);

/** Adds several animals at once, the oldest first. */
export function addsAll(bodies: readonly string[]): string {
  const operations = bodies.map((body) => `{"action":"add","body":${body}}`);
  const results = bodies.map(() => '{"status":201,…}');
  return `
    > POST /pets/batch
    > {"operations":[${operations.join(",")}]}
    < 200
    < {"results":[${results.join(",")}]}
  `;
}

/** What is promised about wrong queries, the message, and the queries that get it. */
export type RefusedQueries = [clause: string, message: string, queries: readonly string[]];

/** Stories of queries that an operation refuses. */
export function refusedQueries(path: string, rows: readonly RefusedQueries[]): Story[] {
  return rows.map(([clause, message, queries]) => {
    const error = errorOf(400, "invalid_parameter", message);
    const told = queries.map((query) => `
      > GET ${path}?${query}
      < 400
      < ${error}
    `);
    return { clause, told: told.join("") };
  });
}
