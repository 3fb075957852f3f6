import { assertEquals } from "@std/assert";
import { newToken } from "../src/api_key.ts";
import { withoutTokens } from "../src/stderr_report.ts";

Deno.test("withoutTokens() leaves no API key in a line, nor a good part of one", () => {
  const token = newToken((length) => new Uint8Array(length).fill(171));
  const line = (key: string) => JSON.stringify({ path: `/v1/pets/${key}`, status: 503 });
  assertEquals(withoutTokens(line(token)), line("pets_…"));
  assertEquals(withoutTokens(line(token.slice(0, 20))), line("pets_…"));
  assertEquals(withoutTokens(line("7")), line("7"));
});
