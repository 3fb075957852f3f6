/** The parameters that all lists with pages share (section 8 of the interface). */

import { integer } from "./query.ts";

export const LIMIT_MIN = 1;
export const LIMIT_MAX = 100;
export const LIMIT_DEFAULT = 20;

export const LIMIT = integer(
  "The maximum number on a page, which has fewer if its text is long",
  LIMIT_MIN,
  LIMIT_MAX,
  LIMIT_DEFAULT,
);

export const CURSOR_DESCRIPTION =
  "The start of the page, taken from the `Link` header of the previous page";

/** The fault of a cursor that comes from no page. */
export const NOT_A_CURSOR = "must be taken from the Link header of another page";
