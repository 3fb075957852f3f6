import { assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import { redactKeys } from "../../src/runtime/redact_keys.ts";

const TOKEN = newToken((length) => new Uint8Array(length).fill(171));
const SECRET = TOKEN.slice("pets_".length);

const line = (key: string) => JSON.stringify({ path: `/v1/pets/${key}`, status: 503 });

Deno.test("redactKeys() removes an API key and a truncated key, and changes nothing else", () => {
  for (const key of [TOKEN, TOKEN.slice(0, 20)]) {
    assertEquals(redactKeys(line(key)), line("pets_…"));
  }
  for (const text of ["7", "pets_", "pets_cafe", "pets%5F", "pets.jsonl", "%70%65%74%73"]) {
    assertEquals(redactKeys(line(text)), line(text));
  }
  assertEquals(
    redactKeys(`/v1/pets?a=${TOKEN}&limit=7&b=${TOKEN}#${TOKEN}`),
    "/v1/pets?a=pets_…&limit=7&b=pets_…#pets_…",
  );
});

Deno.test("redactKeys() removes a percent-encoded, upper-case or wrapped key", () => {
  const encode = (text: string, digits = (hex: string) => hex) =>
    [...text].map((char) => `%${digits(char.charCodeAt(0).toString(16))}`).join("");
  const forms = [
    `pets%5F${SECRET}`,
    `pets%5f${SECRET}`,
    `pets%255F${SECRET}`,
    `%70ets_${SECRET}`,
    encode(TOKEN),
    encode(TOKEN, (hex) => hex.toUpperCase()),
    encode(TOKEN).replaceAll("%", "%25"),
    TOKEN.toUpperCase(),
    encode(TOKEN.toUpperCase()),
    `${TOKEN.slice(0, 30)}%0A${TOKEN.slice(30)}`,
    `${TOKEN.slice(0, 30)}+${TOKEN.slice(30)}`,
    `pets_${encode(SECRET.slice(0, 9))}${SECRET.slice(9)}`,
    `key=pets_pets_${SECRET}`,
  ];
  for (const form of forms) {
    const redacted = redactKeys(line(form));
    assertStringIncludes(redacted, "pets_…");
    assertLess(redacted.length, 60, redacted);
    assertEquals(JSON.parse(redacted).status, 503);
  }
});

Deno.test("redactKeys() removes a secret of a webhook", () => {
  const secret = "whsec_b82de3W8u+l7tf1tJUJCno1GG5/vQg4g9qsPHRSUg2w=";
  for (const form of [secret, secret.slice(0, 20), encodeURIComponent(secret)]) {
    assertEquals(redactKeys(line(form)), line("whsec_…"));
  }
  assertEquals(redactKeys(line(`${secret} ${TOKEN}`)), line("whsec_… pets_…"));
  for (const text of ["whsec_", "whsec_…", "whsec-abcdefgh"]) {
    assertEquals(redactKeys(line(text)), line(text));
  }
});

Deno.test("redactKeys() takes linear time for a hostile text", () => {
  // In quadratic time, it would take hours.
  for (
    const part of [
      "%",
      "%25",
      "pets_",
      "pets_abcdefa",
      "p%2565ts%25",
      "pets_%2525",
      "whsec_",
      "whsec_a/",
    ]
  ) {
    redactKeys(part.repeat(100_000));
  }
});
