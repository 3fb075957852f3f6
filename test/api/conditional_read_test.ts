import { assertEquals } from "@std/assert";
import { applyIfNoneMatch, entityTag } from "../../src/api/conditional_read.ts";

Deno.test("If-None-Match with many spaces takes linear time", () => {
  const response = { status: 200, headers: { etag: entityTag("") }, body: null };
  // In quadratic time, this would take minutes.
  const headers = new Headers({ "if-none-match": `"a"${" ".repeat(1_000_000)}"b"` });
  assertEquals(applyIfNoneMatch(response, { method: "GET", headers }), response);
});
