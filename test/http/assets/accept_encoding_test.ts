import { assertEquals } from "@std/assert";
import { preferredEncoding } from "../../../src/http/assets/accept_encoding.ts";

const CASES: [field: string | null, encoding: string][] = [
  [null, "identity"],
  ["", "identity"],
  ["br", "br"],
  ["gzip", "gzip"],
  ["identity", "identity"],
  ["deflate, zstd", "identity"],
  // Browsers send these.
  ["gzip, deflate", "gzip"],
  ["gzip, deflate, br, zstd", "br"],
  ["GZip , BR", "br"],
  ["br;q=0.5, gzip;q=0.8", "gzip"],
  ["br;q=0.5,gzip;q=0.8,identity", "identity"],
  ["br ; Q=0.001", "br"],
  ["br;q=0", "identity"],
  ["br;q=0.000, gzip;q=0.0", "identity"],
  ["br;q=0, gzip", "gzip"],
  ["*", "br"],
  ["br;q=0, *", "gzip"],
  ["*;q=0.1, gzip", "gzip"],
  ["*;q=0, gzip;q=0.1", "gzip"],
  ["identity;q=0, gzip", "gzip"],
  ["identity;q=0, *", "br"],
  // None of our encodings is acceptable.
  ["*;q=0", "identity"],
  ["identity;q=0", "identity"],
  ["br;q=0, gzip;q=0, identity;q=0", "identity"],
  // Malformed weights.
  ["br;q=", "identity"],
  ["br;q=2, gzip;q=1", "gzip"],
  ["br;level=9, gzip", "gzip"],
];

Deno.test("preferredEncoding() prefers the higher weight, then the smaller size, and skips unacceptable encodings", () => {
  for (const [field, encoding] of CASES) {
    assertEquals(preferredEncoding(field), encoding, JSON.stringify(field));
  }
});
