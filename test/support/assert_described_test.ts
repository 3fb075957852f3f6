import { assertThrows } from "@std/assert";
import { assertDescribed } from "./assert_described.ts";

const PET = '{"id":1,"name":"Rex","categoryId":9223372036854775807}';

interface Change {
  method?: string;
  path?: string;
  status?: number;
  headers?: Record<string, string>;
  body?: string;
}

/** Checks a response of listPets with the given changes. */
function hold({ method = "GET", path = "/v1/pets", status = 200, headers, body }: Change) {
  const sound = {
    "content-type": "application/json",
    "x-request-id": "01HZZZZZZZ0000000000000001",
    "cache-control": "private, no-cache",
    vary: "authorization",
    etag: `"${"0".repeat(32)}"`,
  };
  const response = {
    status,
    headers: new Headers({ ...sound, ...headers }),
    body: body ?? `[${PET}]`,
  };
  assertDescribed(method, path, response);
}

Deno.test("assertDescribed() accepts described responses, and responses outside of the interface", () => {
  hold({});
  hold({ headers: { link: '<https://shop.example/v1/pets?cursor=7>; rel="next"' } });
  hold({ path: "/healthz", status: 299 });
});

const FAULTS: [string, Change, string][] = [
  ["a status that is not described", { status: 202 }, "describes no such status"],
  ["a header that is not described", { headers: { "x-more": "1" } }, "x-more is not described"],
  [
    "a header that is not valid",
    { headers: { etag: '"b56c655969147e6e31020b86f5267a0G"' } },
    "pattern",
  ],
  ["a relative link", { headers: { link: '</v1/pets?cursor=7>; rel="next"' } }, "pattern"],
  ["another content type", { headers: { "content-type": "text/plain" } }, "text/plain"],
  ["another body", { body: PET }, 'does not match type: "array"'],
  [
    "a field too many",
    { body: `[{"age":1,${PET.slice(1)}]` },
    "does not match additionalProperties",
  ],
  [
    "an integer beyond int64",
    { body: `[${PET.replace(/\d{19}/, "9223372036854775808")}]` },
    "is no int64",
  ],
];

for (const [subject, change, message] of FAULTS) {
  Deno.test(`assertDescribed() finds ${subject}`, () => {
    assertThrows(() => hold(change), Error, message);
  });
}

Deno.test("assertDescribed() finds a code that the operation does not have for the status", () => {
  const headers = new Headers({
    "content-type": "application/json",
    "x-request-id": "01HZZZZZZZ0000000000000001",
    "cache-control": "no-store",
    "retry-after": "1",
  });
  const refuse = (code: string) => {
    const body = JSON.stringify({ code, message: "No", status: 503 });
    assertDescribed("GET", "/v1/pets", { status: 503, headers, body });
  };
  refuse("store_unavailable");
  assertThrows(() => refuse("overloaded"), Error, "Code overloaded is not described");
  assertThrows(() => refuse("invented"), Error, "does not match enum");
});

Deno.test("assertDescribed() finds that a header is missing", () => {
  const headers = new Headers({ "content-type": "application/json" });
  const response = { status: 200, headers, body: "[]" };
  assertThrows(
    () => assertDescribed("GET", "/v1/pets", response),
    Error,
    "x-request-id is missing",
  );
});
