import { assertThrows } from "@std/assert";
import { assertDescribed } from "./assert_described.ts";

const PET = '{"id":1,"name":"Rex","categoryId":9223372036854775807}';

const OF_LIST = {
  etag: `"${"0".repeat(32)}"`,
  "x-feed-position": `${"1".padStart(16, "0")}-${"0".repeat(16)}`,
};

/** Checks a response of listPets with changes; an empty header is missing. */
function check({ status = 200, body = `[${PET}]`, ...changes }: Record<string, string | number>) {
  const named: Record<string, string | number> = {
    "content-type": "application/json",
    "x-request-id": "01HZZZZZZZ0000000000000001",
    "cache-control": status === 200 ? "private, no-cache" : "no-store",
    ...(status === 200 ? OF_LIST : { "retry-after": "1" }),
    ...changes,
  };
  const present = Object.entries(named).filter(([, value]) => value !== "");
  const headers = new Headers(
    present.map(([name, value]): [string, string] => [name, String(value)]),
  );
  assertDescribed("GET", "/v1/pets", { status: Number(status), headers, body: String(body) });
}

const unavailable = (code: string) => ({
  status: 503,
  body: JSON.stringify({ code, message: "No", status: 503 }),
});

Deno.test("assertDescribed() accepts described responses, and finds what is not described", () => {
  check({});
  check({ vary: "origin", link: '<https://shop.example/v1/pets?cursor=7>; rel="next"' });
  check(unavailable("store_unavailable"));
  const faults: [message: string, change: Record<string, string | number>][] = [
    ["describes no such status", { status: 202 }],
    ["x-more is not described", { "x-more": "1" }],
    ["x-request-id is missing", { "x-request-id": "" }],
    ["must match pattern", { etag: '"b56c655969147e6e31020b86f5267a0G"' }],
    ["must match pattern", { link: '</v1/pets?cursor=7>; rel="next"' }],
    ["Content-Type text/plain is not described", { "content-type": "text/plain" }],
    ["must be array", { body: PET }],
    ["must NOT have additional properties", { body: `[{"age":1,${PET.slice(1)}]` }],
    ["must be integer", { body: `[${PET.replace("1", '"1"')}]` }],
    ["must have required property 'name'", { body: '[{"id":1,"categoryId":7}]' }],
    ["Code outcome_unknown is not described", unavailable("outcome_unknown")],
    ["must be equal to one of the allowed values", unavailable("invented")],
  ];
  for (const [message, change] of faults) assertThrows(() => check(change), Error, message);
});
