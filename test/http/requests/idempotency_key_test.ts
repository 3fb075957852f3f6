import { assertEquals, assertThrows } from "@std/assert";
import { HttpError } from "../../../src/http/errors.ts";
import { parseIdempotencyKey } from "../../../src/http/requests/idempotency_key.ts";

Deno.test("parseIdempotencyKey() treats a quoted and a bare key as the same", () => {
  const uuid = "8e03978e-40d5-43e8-bc93-6894a57f9324";
  assertEquals(parseIdempotencyKey(uuid), uuid);
  assertEquals(parseIdempotencyKey(`"${uuid}"`), uuid);
});

Deno.test("parseIdempotencyKey() decodes escapes only in a quoted key", () => {
  assertEquals(parseIdempotencyKey(String.raw`"a\"b\\c, d"`), String.raw`a"b\c, d`);
  assertEquals(parseIdempotencyKey(String.raw`a\\b`), String.raw`a\\b`);
});

Deno.test("parseIdempotencyKey() accepts 255 characters, not counting quotes and escapes", () => {
  const longest = "k".repeat(255);
  for (const field of [longest, `"${longest}"`]) assertEquals(parseIdempotencyKey(field), longest);
  assertEquals(parseIdempotencyKey(`"${'\\"'.repeat(255)}"`), '"'.repeat(255));
});

Deno.test("parseIdempotencyKey() refuses a key that is empty, too long, half quoted or not visible ASCII", () => {
  const invalid = [
    "",
    '""',
    "k".repeat(256),
    `"${"k".repeat(256)}"`,
    '"a',
    'a"',
    'a"b',
    '"a"b',
    '"a"; p=1',
    '"a", "b"',
    "a, b",
    "a b",
    String.raw`"a\b"`,
    "é",
    '"é"',
    '"a\tb"',
  ];
  for (const field of invalid) {
    const refusal = assertThrows(() => parseIdempotencyKey(field), HttpError);
    assertEquals(refusal.code, "invalid_idempotency_key", field);
  }
});
