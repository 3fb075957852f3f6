import { assert, assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import { issueKey } from "../../src/commands/issue_key.ts";
import { TcpProxy } from "./tcp_proxy.ts";
import { useRealStore } from "./real_store.ts";
import { runTask } from "./run_task.ts";
import { ServiceProcess } from "./service_process.ts";
import type { StoreServer, StoreServers } from "./store_server.ts";

/** Maximum time to any response, whatever happens to the store. */
const RESPONSE_LIMIT_MS = 4_500;

/** Maximum time to a successful response after the store is back. */
const RETURN_LIMIT_MS = 2_000;

/** A store with a wrong password or token: how to name it, and what the service says. */
export interface WrongPassword {
  address: string;
  env: Record<string, string>;
  message: string;
}

/** Declares the tests of a service whose store fails, is away, hangs or refuses it. */
export function testOutages(
  { name, ignore, start }: StoreServers,
  withWrongPassword: (server: StoreServer) => WrongPassword,
): void {
  const test = (criterion: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name}: ${criterion}`, ignore, fn });

  test("a service that starts while the store is away is not ready until the store is back", async () => {
    await using server = await start();
    await server.kill();
    await using service = await startService(server);
    assertEquals(await statusOf(service, "/healthz"), 200);
    await sleep(1_500);
    assertEquals(await statusOf(service, "/readyz"), 503);
    await server.start();
    await becomes(service, "/readyz", 200);
    await sleep(1_500);
    const lines = service.lines.join("\n");
    assertMatch(lines, /"event":"store_away"[^]*"event":"store_back"/);
    assertMatch(lines, /"event":"listening".*"state":"unknown"/);
    assertMatch(lines, /"event":"store_opened".*"events":0,"pets":0,"liveKeys":0/);
    assertMatch(lines, /"event":"no_live_key"/);
    assert(!lines.includes(server.secret));
  });

  test("a wrong password ends the service and tools with one line, also if the store is away at first", async () => {
    await using server = await start();
    const { address, env, message } = withWrongPassword(server);
    const expected = `error: ${message}\n`;
    const options = { kvPath: address, env: { ...env, PORT: "0" } };
    assertEquals(await runTask(["start"], options), { code: 1, stdout: "", stderr: expected });
    assertEquals(await runTask(["keys", "list"], options), {
      code: 2,
      stdout: "",
      stderr: expected,
    });

    await server.kill();
    await using service = await ServiceProcess.start(address, env);
    await server.start();
    assertEquals(await service.ended(), 1);
    assertEquals(service.lines.at(-1), expected.trimEnd());
  });

  test("a tool fails within 10 seconds and with one line if the store is away or hangs", async () => {
    await using server = await start();
    const options = { kvPath: server.address, env: server.env };
    server.pause();
    const started = performance.now();
    const hanging = await runTask(["log"], options);
    assertLess(performance.now() - started, 10_000);
    server.resume();
    await server.kill();
    for (const { code, stdout, stderr } of [hanging, await runTask(["log"], options)]) {
      assertEquals(code, 2);
      assertEquals(stdout, "");
      assertMatch(stderr, /^error: Cannot open the [^\n]*it does not answer[^\n]*\n$/);
    }
  });

  test("while the store hangs, the service responds in time, and it recovers by itself", async () => {
    await using fixture = await openFixture(start);
    const { server, service } = fixture;
    assertEquals((await fixture.create("before")).status, 201);
    server.pause();
    for (let round = 0; round < 2; round++) {
      const responses = [fixture.create(`hanging ${round}`), fixture.list(), fixture.list()];
      for (const response of await Promise.all(responses)) await expectUnavailable(response);
      assertEquals(await statusOf(service, "/healthz"), 200);
      assertEquals(await statusOf(service, "/readyz"), 503);
    }
    server.resume();
    await becomes(service, "/readyz", 200);
    assertEquals((await fixture.create("after")).status, 201);
    const names = (await (await fixture.list()).json()).map(({ name }: { name: string }) => name);
    assertEquals(names.at(-1), "before");
    assertEquals(names[0], "after");
    assertEquals(new Set(names).size, names.length);
  });

  test("a service replaces a connection on which the store no longer responds", async () => {
    await using server = await start();
    await using proxy = new TcpProxy(() => server.port);
    await using fixture = await openFixture(server, proxy.port);
    assertEquals((await fixture.create("before")).status, 201);
    for (let round = 0; round < 2; round++) {
      proxy.swallow();
      await expectUnavailable(await fixture.list());
      await becomes(fixture.service, "/readyz", 200);
      assertEquals((await fixture.create(`after ${round}`)).status, 201);
    }
    assertEquals((await (await fixture.list()).json()).length, 3);
  });

  test("a service recovers by itself after the store was killed and started again", async () => {
    await using fixture = await openFixture(start);
    const { server, service } = fixture;
    for (let round = 0; round < 3; round++) {
      await server.kill();
      await expectUnavailable(await fixture.create(`unclear ${round}`));
      await expectUnavailable(await fixture.list());
      assertEquals(await statusOf(service, "/readyz"), 503);
      await server.start();
      await becomes(service, "/readyz", 200);
      assertEquals((await fixture.create(`clear ${round}`)).status, 201);
    }
  });

  test("on SIGTERM while the store hangs, the service answers accepted requests and ends within 5 seconds", async () => {
    await using fixture = await openFixture(start);
    assertEquals((await fixture.create("before")).status, 201);
    fixture.server.pause();
    const responses = [
      ...Array.from({ length: 10 }, (_, index) => fixture.create(`${index}`)),
      fixture.list(),
      fixture.list(),
    ];
    await sleep(200);
    const signalledAt = performance.now();
    assertEquals(await fixture.service.stop(), 0);
    assertLess(performance.now() - signalledAt, 5_000);
    for (const response of await Promise.all(responses)) await expectUnavailable(response);
  });
}

/** A service on its own server, or on the given one, which it reaches at that port. */
async function openFixture(given: StoreServer | StoreServers["start"], port?: number) {
  const server = typeof given === "function" ? await given() : given;
  const token = await issueKeyAt(server);
  const service = await startService(server, port);
  return {
    server,
    service,
    create: (name: string) =>
      service.send("/v1/pets", token, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ name, categoryId: 1 }),
        signal: AbortSignal.timeout(RESPONSE_LIMIT_MS),
      }),
    list: () =>
      service.send("/v1/pets?limit=100", token, { signal: AbortSignal.timeout(RESPONSE_LIMIT_MS) }),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      if (server !== given) await server[Symbol.asyncDispose]();
    },
  };
}

function startService(server: StoreServer, port = server.port): Promise<ServiceProcess> {
  return ServiceProcess.start(server.addressAt(port), server.env);
}

async function issueKeyAt({ address, env }: StoreServer): Promise<string> {
  return await useRealStore(address, async (service) => {
    return (await issueKey(service, { label: "test" })).token;
  }, env);
}

async function statusOf({ address }: ServiceProcess, path: string): Promise<number> {
  const response = await fetch(address + path, { signal: AbortSignal.timeout(RESPONSE_LIMIT_MS) });
  await response.body?.cancel();
  return response.status;
}

async function becomes(service: ServiceProcess, path: string, status: number): Promise<void> {
  const started = performance.now();
  while (await statusOf(service, path) !== status) {
    assertLess(performance.now() - started, RETURN_LIMIT_MS);
    await sleep(50);
  }
}

async function expectUnavailable(response: Response): Promise<void> {
  assertEquals(response.status, 503);
  assertGreater(Number(response.headers.get("retry-after")), 0);
  assertEquals(response.headers.get("content-type"), "application/json");
  const { code } = await response.json();
  assertMatch(code, /^(store_unavailable|outcome_unknown|shutting_down)$/);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
