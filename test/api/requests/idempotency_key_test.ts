import { assertEquals } from "@std/assert";
import { parseIdempotencyKey } from "../../../src/api/requests/idempotency_key.ts";

Deno.test("parseIdempotencyKey() reads a bare key, and a quoted one of up to 255 characters with escapes", () => {
  const uuid = "8e03978e-40d5-43e8-bc93-6894a57f9324";
  const longest = "k".repeat(255);
  const keys: [field: string, key: string][] = [
    [uuid, uuid],
    [`"${uuid}"`, uuid],
    [String.raw`"a\"b\\c, d"`, String.raw`a"b\c, d`],
    [String.raw`a\\b`, String.raw`a\\b`],
    [longest, longest],
    [`"${longest.slice(2)}"`, longest.slice(2)],
    [`"${'\\"'.repeat(126)}a"`, `${'"'.repeat(126)}a`],
  ];
  for (const [field, key] of keys) {
    assertEquals(parseIdempotencyKey(new Headers({ "idempotency-key": field })), key);
  }
});
