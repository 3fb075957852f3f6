import { assertEquals, assertThrows } from "@std/assert";
import { HttpError } from "../../../src/http/errors.ts";
import { parsePageQuery } from "../../../src/http/requests/page_query.ts";

const LONG = "x".repeat(5_000);
const NOT_FROM_LINK = 'Query parameter "cursor" must be taken from the Link header of another page';

const REFUSED: [queries: string[], message: string][] = [
  ...["offset=5", "limit=5&offset=1", "%6Fffset"].map((query): [string[], string] => [
    [query],
    'Query parameter "offset" is not known: use limit, status, cursor',
  ]),
  [["Limit=5"], 'Query parameter "Limit" is not known'],
  [["=1"], 'Query parameter "" is not known'],
  [["__proto__=1"], 'Query parameter "__proto__" is not known'],
  [["a%26b=1"], 'Query parameter "a&b" is not known'],
  [[`${LONG}=1`], `Query parameter "${LONG.slice(0, 50)}…" is not known`],
  [["limit=5&limit=5", "limit=5&%6Cimit=6"], 'Query parameter "limit" is repeated'],
  [["status=sold&limit=5&status=pending"], 'Query parameter "status" is repeated'],
  [["cursor=5&cursor=6"], 'Query parameter "cursor" is repeated'],
  [
    ["0", "101", "-1", "", "1.5", "1e1", "0x1", " 1", "+1", "x"].map((it) =>
      `limit=${encodeURIComponent(it)}`
    ),
    'Query parameter "limit" must be an integer from 1 to 100',
  ],
  [
    ["Available", "", "lost", "sold,pending", "%00"].map((it) => `status=${it}`),
    'Query parameter "status" must be one of available, pending, sold',
  ],
  [["0", "-1", "x", "", "1.5", "1e3", "9".repeat(20)].map((it) => `cursor=${it}`), NOT_FROM_LINK],
];

for (const [queries, message] of REFUSED) {
  Deno.test(`parsePageQuery() refuses ${queries.join(" ").slice(0, 70)}`, () => {
    for (const query of queries) {
      const { code } = assertThrows(() => parsePageQuery(query), HttpError, message);
      assertEquals(code, "invalid_parameter");
    }
  });
}

Deno.test("parsePageQuery() takes limit, status and cursor, and 20 as limit by default", () => {
  for (const query of ["", "&"]) assertEquals(parsePageQuery(query), { limit: 20 });
  const all = { limit: 100, status: "sold", cursor: 7 };
  assertEquals(parsePageQuery("cursor=7&limit=100&status=sold"), all as never);
});
