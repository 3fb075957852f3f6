import { systemRuntime } from "eventstore-less/startup";
import { assert, assertEquals, assertGreater, assertMatch } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { createService } from "../../src/service.ts";
import { serviceErrorCode } from "../../src/eventstore_less/service_error.ts";
import { freePort } from "./free_port.ts";
import { LoadClient } from "./load_client.ts";
import { openRealStore } from "./real_store.ts";
import { runReplayLoad } from "./replay_load.ts";
import { expectTask, expectTaskFails, runTask, spawnTask } from "./run_task.ts";
import { readLines, ServiceProcess } from "./service_process.ts";
import type { StoreServer, StoreServers } from "./store_server.ts";
import { TcpProxy } from "./tcp_proxy.ts";
import { TempStore } from "./temp_store.ts";
import { testNeeding } from "./test_needing.ts";
import { clientOf } from "./test_service.ts";
import { HANG_LIMIT_MS, until } from "./until.ts";

/** Time under load, while nothing fails and while the connections are cut. */
const LOAD_MS = 5_000;

const INSTANCES = 4;

/** Declares the tests of a service and of the commands on a store that is reached over a network. */
export function testStoreServer({ name, need, cutShare, start }: StoreServers): void {
  const test = (criterion: string, fn: (server: StoreServer) => Promise<void>) =>
    testNeeding(need)(`${name}: ${criterion}`, async () => {
      await using server = await start();
      await fn(server);
    });

  test("a service that starts while the store is away is not ready until the store is back", async (server) => {
    await server.kill();
    await using service = await ServiceProcess.start(server.address, server.env);
    const expectLines = (pattern: RegExp) =>
      until(() => assertMatch(service.lines.join("\n"), pattern), "The lines are missing");
    assertEquals(await statusOf(service, "/healthz"), 200);
    await expectLines(/"event":"listening".*"state":"unknown"[^]*"event":"store_away"/);
    assertEquals(await statusOf(service, "/readyz"), 503);
    await server.start();
    await becomes(service, "/readyz", 200);
    await expectLines(/"event":"store_back"/);
    await expectLines(/"store_opened".*"events":0,"pets":0,"liveKeys":0[^]*"event":"no_live_key"/);
    assert(!service.lines.join("\n").includes(server.secret));
  });

  test("without NEW_STORE=make, a service starts only once a command has made the store", async (server) => {
    const options = optionsOf(server);
    const { env } = options;
    const refused = { ...options, env: { ...env, PORT: "0", NEW_STORE: "" } };
    const advice = /; if there should be data, .*; if not, make the store with deno task keys /;
    await expectTaskFails(2, advice, ["start"], refused);
    await server.kill();
    await using late = await ServiceProcess.start(server.address, refused.env);
    await server.start();
    assertEquals(await late.ended(), 2);
    assertMatch(late.lines.at(-1)!, advice);
    await expectTask(["keys", "issue", "--label", "first"], options);
    await using service = await ServiceProcess.start(server.address, refused.env);
    await becomes(service, "/readyz", 200);
  });

  test("a wrong password ends the service and tools with one line, also if the store is away at first", async (server) => {
    const { address, env, message } = server.wrongSecret();
    const stderr = `error: ${message}\n`;
    const options = { kvPath: address, env: { ...env, PORT: "0" } };
    assertEquals(await runTask(["start"], options), { code: 2, stdout: "", stderr });
    assertEquals(await runTask(["keys", "list"], options), { code: 2, stdout: "", stderr });

    await server.kill();
    await using service = await ServiceProcess.start(address, env);
    await server.start();
    assertEquals(await service.ended(), 2);
    assertEquals(service.lines.at(-1), stderr.trimEnd());
  });

  test("a tool fails with one line if the store is away or hangs", async (server) => {
    const away = /^error: Cannot open the [^\n]*it does not answer[^\n]*\n$/;
    const fails = () => expectTaskFails(2, away, ["log"], optionsOf(server));
    server.pause();
    await fails();
    server.resume();
    await server.kill();
    await fails();
  });

  test("while the store hangs, the service responds; it recovers by itself, and a SIGTERM ends it", async (server) => {
    await using fixture = await openFixture(server);
    const { create, list, services: [service] } = fixture;
    assertEquals((await create("before")).status, 201);
    server.pause();
    for (let round = 0; round < 2; round++) {
      const responses = [create(`hanging ${round}`), list(), list()];
      for (const response of await Promise.all(responses)) await expectUnavailable(response);
      assertEquals(await statusOf(service, "/healthz"), 200);
      assertEquals(await statusOf(service, "/readyz"), 503);
    }
    server.resume();
    await becomes(service, "/readyz", 200);
    assertEquals((await create("after")).status, 201);
    const names = (await (await list()).json()).map(({ name }: { name: string }) => name);
    assertEquals([names[0], names.at(-1)], ["after", "before"]);
    assertEquals(new Set(names).size, names.length);
    server.pause();
    const accepted = [create("last"), create("also last"), list()];
    await becomes(service, "/readyz", 503);
    assertEquals(await service.stop(), 0);
    for (const response of await Promise.all(accepted)) await expectUnavailable(response);
  });

  test("a service replaces a connection on which the store no longer responds", async (server) => {
    await using proxy = new TcpProxy(() => server.port);
    await using fixture = await openFixture(server, { port: proxy.port });
    const { create, list, services: [service] } = fixture;
    assertEquals((await create("before")).status, 201);
    for (let round = 0; round < 2; round++) {
      // What the service asks after an addition has ended, so it opens no other connection meanwhile.
      assertEquals((await list()).status, 200);
      proxy.swallow();
      await expectUnavailable(await list());
      await becomes(service, "/readyz", 200);
      assertEquals((await create(`after ${round}`)).status, 201);
    }
    assertEquals((await (await list()).json()).length, 3);
  });

  test("four instances agree on keys and pets at every moment, also while connections to the server are cut after commits", async (server) => {
    await using proxy = new TcpProxy(() => server.port);
    await using fixture = await openFixture(server, { instances: INSTANCES, port: proxy.port });
    const { load } = fixture;
    const keysRevoked = await fixture.run(LOAD_MS);
    proxy.share = cutShare;
    await fixture.run(LOAD_MS);
    proxy.share = 0;
    await fixture.verify();
    console.log({ keysRevoked, cuts: proxy.cuts, ...load.outcomes });
    for (const count of [keysRevoked, proxy.cuts]) assertGreater(count, 0);
    assertGreater(load.acknowledged.size, load.refused.size + load.unclear.size);
  });

  test("every tool works while a service runs, and moves a catalogue to another store", async (server) => {
    const run = (...args: string[]) => expectTask(args, optionsOf(server));
    const token = (await run("keys", "issue", "--label", "shop")).trim();
    await using service = await ServiceProcess.start(server.address, server.env);
    for (let id = 1; id <= 5; id++) {
      assertEquals(await service.add({ name: `Animal ${id}`, categoryId: id }, token), 201);
    }
    const keys = await run("keys", "list");
    assertMatch(keys, / live .* shop\n/);
    const keyId = /^([0-9A-Z]{26}) +live/m.exec(keys)![1];
    const successor = (await run("keys", "rotate", keyId, "--overlap", "1h")).trim();
    assertEquals(await service.add({ name: "Animal 6", categoryId: 6 }, successor), 201);
    await run("audit");
    await run("replay", "--grace", "0");
    await run("audit");

    const exported = await run("log");
    assertEquals(exported.trim().split("\n").length, 9);
    await using copy = await start();
    const stdin = new TextEncoder().encode(exported);
    await expectTask(["restore", "-"], { ...optionsOf(copy), stdin });
    assertEquals(await expectTask(["log"], optionsOf(copy)), exported);
    await expectTask(["audit"], optionsOf(copy));
    await using moved = await ServiceProcess.start(copy.address, copy.env);
    const [before, after] = await Promise.all([service, moved].map(async (one) => {
      const response = await one.send("/v1/pets?limit=100", successor);
      return [response.status, await response.text()];
    }));
    assertEquals(after, before);
    assertEquals(after[0], 200);

    const ids = (await run("keys", "list")).match(/^[0-9A-Z]{26}(?= )/gm)!;
    await run("keys", "revoke", ids.find((id) => id !== keyId)!);
    assertEquals((await service.send("/v1/pets", successor)).status, 401);
    assertEquals((await moved.send("/v1/pets", successor)).status, 200);
  });

  test("replay: clients of two services see no failure and no stale response", async (server) => {
    (await openRealStore(server.address, server.env)).close();
    const { created, changed, listed, read } = await runReplayLoad(server.address);
    for (const count of [created, changed, listed, read]) assertGreater(count, 0);
  });

  test("backup --follow waits while the store is away, and continues when it is back", async (server) => {
    const issue = ["keys", "issue", "--label", "test"];
    const token = (await expectTask(issue, optionsOf(server))).trim();
    await using service = await ServiceProcess.start(server.address, server.env);
    await using temp = await TempStore.make();
    const file = `${temp.folder}/pets.jsonl`;
    const follower = spawnTask(["backup", file, "--follow"], optionsOf(server));
    const errors: string[] = [];
    const reading = [
      readLines(follower.stderr, (line) => errors.push(line)),
      follower.stdout.cancel(),
    ];
    const addAndFollow = async () => {
      const pet = { name: "Rex", categoryId: 1 };
      const add = async () => assertEquals(await service.add(pet, token), 201);
      await until(add, "No pet is accepted");
      const content = await expectTask(["log"], optionsOf(server));
      const isFollowed = async () => assertEquals(await Deno.readTextFile(file), content);
      await until(isFollowed, "The backup does not follow");
    };
    try {
      for (let round = 0; round < 2; round++) {
        await addAndFollow();
        await server.kill();
        const waits = () => errors.filter((line) => /waiting until/.test(line)).length > round;
        await until(waits, "The backup does not wait");
        await server.start();
      }
      await addAndFollow();
    } finally {
      follower.kill("SIGTERM");
      await Promise.all([follower.status, follower.stdin.close(), ...reading]);
    }
    // Deno's KV client writes its own failures, too.
    const words = errors.filter((line) => !line.startsWith("KV Connect")).join("\n");
    assertMatch(words, /waiting until the store answers again\nThe store is available again\./);
    assertMatch(words, /\nStopped\. .* ends at position \d+\. Run the same command again/);
    assertEquals((await follower.status).code, 0);
  });
}

/** Instances that reach a server at a port, clients, and an operator's command on the server itself. */
async function openFixture(
  server: StoreServer,
  { instances = 1, port = server.port } = {},
) {
  const operator = createService({
    store: await openRealStore(server.address, server.env),
    runtime: systemRuntime,
    report: () => {},
    appendLimitMs: 10_000,
  });
  const { token } = await issueApiKey(operator, { label: "test" });
  const ports = Array.from({ length: instances }, freePort);
  const startAt = (own: number) =>
    ServiceProcess.start(server.addressAt(port), { ...server.env, PORT: String(own) });
  const services = await Promise.all(ports.map(startAt));
  const options = {
    token,
    connections: 64,
    faults: "store" as const,
    reads: true,
    changes: true,
  };
  const load = new LoadClient({ services: () => services, ...options });
  const client = clientOf(token, (path, init) => fetchInTime(services[0].address + path, init));
  /** A key is valid on every instance as soon as it is issued, and on none as soon as it is revoked. */
  const changeKeys = async () => {
    const key = await issueApiKey(operator, { label: "short-lived" });
    for (const service of services) await load.expectKey(service, key.token, 200);
    await revokeApiKey(operator, key.id);
    for (const service of services) await load.expectKey(service, key.token, 401);
  };
  return {
    services,
    load,
    create: (name: string) => client.add({ name, categoryId: 1 }),
    list: () => client.send("/v1/pets?limit=100"),
    /** Runs the load while keys are issued and revoked. Resolves to the number of keys. */
    async run(ms: number): Promise<number> {
      const end = performance.now() + ms;
      const isOver = () => performance.now() > end;
      let keysRevoked = 0;
      const changing = (async () => {
        do {
          try {
            await changeKeys();
            keysRevoked++;
          } catch (error) {
            if (serviceErrorCode(error) === undefined) throw error;
          }
          await sleep(300);
        } while (!isOver());
      })();
      await Promise.all([changing, load.run(isOver)]);
      return keysRevoked;
    },
    async verify() {
      await until(() => operator.heads.fresh(), "The store does not answer");
      for (const service of services) await becomes(service, "/readyz", 200);
      await load.expectLogged(operator);
      for (const service of services) await load.expectServed(service);
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) await service[Symbol.asyncDispose]();
      operator.store.close();
    },
  };
}

function fetchInTime(url: string, init?: RequestInit): Promise<Response> {
  return fetch(url, { ...init, signal: AbortSignal.timeout(HANG_LIMIT_MS) });
}

async function statusOf({ address }: ServiceProcess, path: string): Promise<number> {
  const response = await fetchInTime(address + path);
  await response.body?.cancel();
  return response.status;
}

function becomes(service: ServiceProcess, path: string, status: number): Promise<void> {
  const look = async () => assertEquals(await statusOf(service, path), status);
  return until(look, `${path} does not become ${status}`);
}

async function expectUnavailable(response: Response): Promise<void> {
  const { status, code } = await response.json();
  assertEquals(status, 503);
  assertMatch(code, /^(store_unavailable|outcome_unknown|shutting_down)$/);
}

function optionsOf({ address, env }: StoreServer) {
  return { kvPath: address, env };
}
