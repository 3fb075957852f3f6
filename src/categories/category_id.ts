import { int64Of } from "eventstore-less/int64";

const CANONICAL = /^(?:0|-?[1-9]\d*)$/;

/** The id of a category in its only text; `undefined` if the text is another one, or no int64. */
export function parseCategoryId(text: string): bigint | undefined {
  return CANONICAL.test(text) ? int64Of(text) : undefined;
}
