import { assert, assertEquals, assertMatch } from "@std/assert";
import { stateOf } from "../../src/keys/api_key.ts";
import { isToken, newToken } from "../../src/keys/token.ts";

const TOKEN = newToken((length) => new Uint8Array(length).fill(7));

Deno.test("newToken() returns pets_, 32 bytes in hex and a checksum", () => {
  assertMatch(TOKEN, /^pets_(07){32}[0-9a-f]{8}$/);
  assert(isToken(TOKEN));
  assert(isToken(newToken((length) => crypto.getRandomValues(new Uint8Array(length)))));
});

Deno.test("isToken() refuses every change of one character and every swap of neighbours", () => {
  for (let index = 0; index < TOKEN.length; index++) {
    const other = TOKEN[index] === "a" ? "b" : "a";
    assert(!isToken(TOKEN.slice(0, index) + other + TOKEN.slice(index + 1)), `at ${index}`);
    const [one, two] = [TOKEN[index], TOKEN[index + 1]];
    if (two === undefined || one === two) continue;
    assert(!isToken(TOKEN.slice(0, index) + two + one + TOKEN.slice(index + 2)), `at ${index}`);
  }
  for (const text of ["", "pets_", TOKEN.slice(1), TOKEN.slice(0, -1), `${TOKEN}0`, ` ${TOKEN}`]) {
    assert(!isToken(text));
  }
});

Deno.test("stateOf() ends a key at the exact millisecond", () => {
  assertEquals(stateOf({}, Number.MAX_SAFE_INTEGER), "live");
  assertEquals([99, 100].map((now) => stateOf({ expiresAt: 100 }, now)), ["live", "expired"]);
  assertEquals([99, 100].map((now) => stateOf({ revokedAt: 100 }, now)), ["live", "revoked"]);
  assertEquals(stateOf({ revokedAt: 100, isRevoked: true }, 50), "revoked");
});
