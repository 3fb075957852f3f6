import { assert, assertEquals } from "@std/assert";
import { reportRefusedCredentials } from "../../../src/http/limits/refused_credentials.ts";

Deno.test("refused credentials are logged with the last X-Forwarded-For, printable and without keys", () => {
  const secret = "0123456789abcdef".repeat(4) + "01234567";
  const claims = {
    [`${"203.0.113.1, ".repeat(50)}198.51.100.7`]: "198.51.100.7",
    ["x".repeat(150)]: "x".repeat(100),
    [`\x1b[31m\u009bevil" "level":"info"\t198.51.100.7`]: `[31mevil" "level":"info"198.51.100.7`,
    [`198.51.100.7, pets_${secret} ${"x".repeat(40)}`]: `pets_… ${"x".repeat(40)}`,
    [`pets\x01_${secret}`]: "pets_…",
  };
  for (const [claim, forwardedFor] of Object.entries(claims)) {
    const lines: unknown[] = [];
    const headers = new Headers({ "x-forwarded-for": claim });
    reportRefusedCredentials((...line) => lines.push(line), headers, "one");
    assertEquals(lines, [["warn", "credentials_refused", { address: "one", forwardedFor }]]);
    assert(!JSON.stringify(lines).includes(secret));
  }
});
