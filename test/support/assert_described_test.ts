import { assertThrows } from "@std/assert";
import { assertDescribed } from "./assert_described.ts";

const PET = '{"id":1,"name":"Rex","categoryId":9223372036854775807}';

interface Change {
  path?: string;
  status?: number;
  headers?: Record<string, string>;
  /** The name of a header that is missing. */
  without?: string;
  body?: string;
}

/** Checks a response of listPets with the given changes. */
function check(change: Change) {
  const { path = "/v1/pets", status = 200, without = "none", body = `[${PET}]` } = change;
  const headers = new Headers({
    "content-type": "application/json",
    "x-request-id": "01HZZZZZZZ0000000000000001",
    "cache-control": "private, no-cache",
    vary: "authorization",
    etag: `"${"0".repeat(32)}"`,
    ...change.headers,
  });
  headers.delete(without);
  assertDescribed("GET", path, { status, headers, body });
}

/** A response of that code. */
function unavailable(code: string): Change {
  return {
    status: 503,
    headers: { "cache-control": "no-store", "retry-after": "1" },
    without: "etag",
    body: JSON.stringify({ code, message: "No", status: 503 }),
  };
}

Deno.test("assertDescribed() accepts described responses, and responses outside of the interface", () => {
  check({});
  check({ headers: { link: '<https://shop.example/v1/pets?cursor=7>; rel="next"' } });
  check(unavailable("store_unavailable"));
  check({ path: "/healthz", status: 299 });
});

Deno.test("assertDescribed() finds what is not described", () => {
  const faults: [message: string, change: Change][] = [
    ["describes no such status", { status: 202 }],
    ["x-more is not described", { headers: { "x-more": "1" } }],
    ["x-request-id is missing", { without: "x-request-id" }],
    ["must match pattern", { headers: { etag: '"b56c655969147e6e31020b86f5267a0G"' } }],
    ["must match pattern", { headers: { link: '</v1/pets?cursor=7>; rel="next"' } }],
    ["text/plain", { headers: { "content-type": "text/plain" } }],
    ["expected array", { body: PET }],
    ['Unrecognized key: "age"', { body: `[{"age":1,${PET.slice(1)}]` }],
    ["is no int64", { body: `[${PET.replace(/\d{19}/, "9223372036854775808")}]` }],
    ["Code overloaded is not described", unavailable("overloaded")],
    ["Invalid option", unavailable("invented")],
  ];
  for (const [message, change] of faults) assertThrows(() => check(change), Error, message);
});
