import { assert, assertEquals } from "@std/assert";
import { RefusedCredentials } from "../../../src/http/limits/refused_credentials.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";

const ADDRESS = "192.0.2.1";

/** Refused credentials with a fake runtime, and the reports about them. */
function open() {
  const runtime = new FakeRuntime();
  const reports: { refused: number; clients: Record<string, unknown>[] }[] = [];
  const refused = new RefusedCredentials(runtime, (level, event, details) => {
    assertEquals([level, event], ["warn", "credentials_refused"]);
    // As the logger writes it.
    reports.push(JSON.parse(JSON.stringify(details)));
  });
  const refuse = (address: string, times = 1, forwardedFor = "") => {
    const headers = new Headers({ "x-forwarded-for": forwardedFor });
    for (let time = 0; time < times; time++) refused.note(headers, () => address);
  };
  return { runtime, reports, refuse };
}

Deno.test("RefusedCredentials logs the first refusal at once, and the next ones together", async () => {
  const { runtime, reports, refuse } = open();
  const reportOf = (refused: number) => ({
    refused,
    clients: [{ address: ADDRESS, refused, forwardedFor: "" }],
  });
  refuse(ADDRESS);
  assertEquals(reports, [reportOf(1)]);
  refuse(ADDRESS, 500);
  await runtime.advance(4_000);
  refuse(ADDRESS, 500);
  await runtime.advance(5_999);
  assertEquals(reports.length, 1);
  await runtime.advance(1);
  assertEquals(reports.slice(1), [reportOf(1_000)]);
  await runtime.advance(10_000);
  assertEquals(runtime.waits(), [], "nothing waits once there is nothing to report");
  refuse(ADDRESS);
  assertEquals(reports.slice(2), [reportOf(1)]);
});

Deno.test("RefusedCredentials counts 1,000 clients separately, and logs the five with the most refusals", async () => {
  const { runtime, reports, refuse } = open();
  refuse(ADDRESS);
  for (let client = 1; client <= 9; client++) refuse(`client ${client}`, client);
  for (let client = 10; client <= 1_000; client++) refuse(`client ${client}`);
  refuse("late", 5_000);
  refuse("client 7", 5);
  await runtime.advance(10_000);
  assertEquals(reports[1].refused, 45 + 991 + 5_000 + 5);
  const busiest = reports[1].clients.map(({ address, refused }) => [address, refused]);
  assertEquals(busiest.slice(0, 2), [["client 7", 12], ["client 9", 9]]);
  assertEquals(busiest.length, 5);
});

Deno.test("RefusedCredentials logs the last X-Forwarded-For, printable and without keys", async () => {
  const { runtime, reports, refuse } = open();
  const secret = "0123456789abcdef".repeat(4) + "01234567";
  const claims = {
    [`${"203.0.113.1, ".repeat(50)}198.51.100.7`]: "198.51.100.7",
    ["x".repeat(150)]: "x".repeat(100),
    [`\x1b[31m\u009bevil" "level":"info"\t198.51.100.7`]: `[31mevil" "level":"info"198.51.100.7`,
    [`198.51.100.7, pets_${secret} ${"x".repeat(40)}`]: `pets_… ${"x".repeat(40)}`,
    [`pets\x01_${secret}`]: "pets_…",
  };
  for (const claim of Object.keys(claims)) {
    refuse(ADDRESS, 1, claim);
    await runtime.advance(10_000);
  }
  const logged = reports.map(({ clients }) => clients[0].forwardedFor);
  assertEquals(logged, Object.values(claims));
  assert(!JSON.stringify(reports).includes(secret));
});
