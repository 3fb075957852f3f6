import { assert, assertEquals } from "@std/assert";
import { issueKey } from "../../../src/commands/issue_key.ts";
import { revokeKey } from "../../../src/commands/revoke_key.ts";
import { RefusedCredentials } from "../../../src/http/limits/refused_credentials.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { openTestService } from "../../support/test_service.ts";

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
  refuse(ADDRESS);
  await runtime.advance(9_999);
  assertEquals(reports.length, 2);
  await runtime.advance(1);
  assertEquals(reports.slice(2), [reportOf(1)]);
  await runtime.advance(10_000);
  assertEquals(runtime.waits(), [], "nothing waits once there is nothing to report");
  refuse(ADDRESS);
  assertEquals(reports.slice(3), [reportOf(1)]);
});

Deno.test("RefusedCredentials logs the five clients with the most refusals", async () => {
  const { runtime, reports, refuse } = open();
  refuse("192.0.2.99");
  for (let client = 1; client <= 9; client++) refuse(`192.0.2.${client}`, client);
  await runtime.advance(10_000);
  assertEquals(reports[1].refused, 45);
  assertEquals(reports[1].clients.map(({ refused }) => refused), [9, 8, 7, 6, 5]);
});

Deno.test("RefusedCredentials counts 1,000 clients separately, and the others together", async () => {
  const { runtime, reports, refuse } = open();
  refuse("192.0.2.99");
  for (let client = 0; client < 1_000; client++) refuse(`client ${client}`);
  refuse("late", 5_000);
  refuse("client 7");
  await runtime.advance(10_000);
  assertEquals(reports[1].refused, 6_001);
  const [busiest, ...others] = reports[1].clients;
  assertEquals([busiest.address, busiest.refused], ["client 7", 2]);
  assert(others.every(({ address }) => address !== "late"));
});

Deno.test("RefusedCredentials logs the last X-Forwarded-For, printable and without keys", async () => {
  const { runtime, reports, refuse } = open();
  const secret = "0123456789abcdef".repeat(4) + "01234567";
  const claims = [
    `${"203.0.113.1, ".repeat(50)}198.51.100.7`,
    "x".repeat(150),
    `\x1b[31m\u009bevil" "level":"info"\t198.51.100.7`,
    `198.51.100.7, pets_${secret} ${"x".repeat(40)}`,
    `pets\x01_${secret}`,
    "",
  ];
  for (const claim of claims) {
    refuse(ADDRESS, 1, claim);
    await runtime.advance(10_000);
  }
  assertEquals(reports.map(({ clients }) => clients[0].forwardedFor), [
    "198.51.100.7",
    "x".repeat(100),
    `[31mevil" "level":"info"198.51.100.7`,
    `pets_… ${"x".repeat(40)}`,
    "pets_…",
    "",
  ]);
});

Deno.test("an invalid key is logged with the client's address, and a missing key is not", async () => {
  await using service = await openTestService();
  const { id, token } = await issueKey(service, { label: "short" });
  await revokeKey(service, id);
  const request = (authorization: string, method = "GET") =>
    service.handler(
      new Request("http://localhost/v1/pets", {
        method,
        headers: { authorization, "x-forwarded-for": "203.0.113.9" },
      }),
      { clientAddress: () => "192.0.2.1", urlWithoutHost: "http://localhost:8000/" },
    );
  await request("");
  await request("Basic cGV0czpwZXRz");
  assertEquals(service.reports, []);
  for (const method of ["GET", "POST", "DELETE"]) await request(`Bearer ${token}`, method);
  await request("Bearer nonsense");
  await service.runtime.advance(10_000);
  const client = { address: "192.0.2.1", forwardedFor: "203.0.113.9" };
  assertEquals(service.reports, [
    ["warn", "credentials_refused", { refused: 1, clients: [{ ...client, refused: 1 }] }],
    ["warn", "credentials_refused", { refused: 3, clients: [{ ...client, refused: 3 }] }],
  ]);
});
