/** Animals with texts so long that a page ends after eight of them. */

import { addsAll } from "./told.ts";

/** Of 1 and of 6 characters in JSON, which has 18,000 of this animal. */
const CONTROL = String.raw`\u0001`;
const NAME = `{word} ${CONTROL.repeat(980)}`;
const LONG = `{"name":"${NAME}","categoryId":{category},"status":"sold","note":"${
  CONTROL.repeat(2_000)
}"}`;

/** Adds nine of them. */
export const ADDS_NINE = addsAll([LONG, LONG, LONG]).repeat(3);

/** The first page of them, and the rest. The ids have the names a to i in the rest of the story. */
export const FIRST_EIGHT = `[${
  ["a", "b", "c", "d", "e", "f", "g", "h"].map((id) => `{"id":{${id}},…}`)
}]`;
export const NINTH = '[{"id":{i},…}]';
