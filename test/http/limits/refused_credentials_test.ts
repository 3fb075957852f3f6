import { assert, assertEquals } from "@std/assert";
import { refusedCredentialsLog } from "../../../src/http/limits/refused_credentials.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

/** The log of refused credentials with a fake runtime, and its lines. */
function open() {
  const runtime = new FakeRuntime();
  const lines: unknown[] = [];
  const report = (...line: unknown[]) => lines.push(JSON.parse(JSON.stringify(line)));
  const note = refusedCredentialsLog({ runtime, report });
  const refuse = (address: string, forwardedFor = "") =>
    note(new Headers({ "x-forwarded-for": forwardedFor }), address);
  return { runtime, lines, refuse };
}

Deno.test("refused credentials are logged at once, and then together in one line in ten seconds", async () => {
  const { runtime, lines, refuse } = open();
  const lineOf = (refused: number, address: string) => {
    return ["warn", "credentials_refused", { refused, address, forwardedFor: "" }];
  };
  refuse("one");
  assertEquals(lines, [lineOf(1, "one")]);
  for (let count = 0; count < 500; count++) refuse("one");
  await runtime.advance(9_999);
  for (let count = 0; count < 500; count++) refuse("other");
  assertEquals(lines.length, 1);
  await runtime.advance(1);
  assertEquals(lines.slice(1), [lineOf(1_000, "other")]);
  await runtime.advance(10_000);
  assertEquals(runtime.waits(), [], "nothing waits once there is nothing to log");
  refuse("one");
  assertEquals(lines.slice(2), [lineOf(1, "one")]);
});

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
    const { lines, refuse } = open();
    refuse("one", claim);
    const details = { refused: 1, address: "one", forwardedFor };
    assertEquals(lines, [["warn", "credentials_refused", details]]);
    assert(!JSON.stringify(lines).includes(secret));
  }
});
