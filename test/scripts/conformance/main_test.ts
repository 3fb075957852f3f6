import { systemRuntime } from "eventstore-less/startup";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { createService } from "../../../src/service.ts";
import { contractServer } from "../../interface/contract_server.ts";
import { issueKeys } from "../../interface/target.ts";
import { fetchFrom, type FetchHandler, serveFetch } from "../../support/fetch_from.ts";
import { outcomeOf, runTask, spawnTask } from "../../support/run_task.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES);

const KEY = "secret-key-of-another-service";
const OPTIONS = { kvPath: "" };

/** The service on a store in memory. `carry` may do something to its requests. */
async function serveService(
  carry = (request: Request, next: FetchHandler) => next(request),
) {
  const store = await SqliteStore.open(":memory:");
  const service = createService({ store, runtime: systemRuntime, report() {} });
  const next = fetchFrom(service.handler);
  const server = serveFetch((request) => carry(request, next));
  const keys = await issueKeys(service);
  const address = `http://127.0.0.1:${server.port}/v1`;
  const close = async () => {
    await server[Symbol.asyncDispose]();
    store.close();
  };
  const animals = async () => {
    const headers = { authorization: `Bearer ${keys.key}` };
    return await (await next(new Request(`${address}/pets`, { headers }))).json();
  };
  return { ...keys, address, animals, [Symbol.asyncDispose]: close };
}

test("conformance: a right service exits 0, 429 is waited out, and nothing stays", async () => {
  let count = 0;
  await using service = await serveService((request, next) => {
    count++;
    const headers = { "retry-after": "0" };
    const isTooMany = count % 3 === 0;
    return isTooMany
      ? Promise.resolve(new Response(null, { status: 429, headers }))
      : next(request);
  });
  const { address, key, readOnlyKey } = service;
  const args = ["conformance", `${address}/`, "--key", key, "--level", "1"];
  const { code, stdout, stderr } = await runTask(args, OPTIONS);
  assertEquals(code, 0, stdout);
  assertMatch(stderr, RegExp(`^Judges ${address} by \\d+ clauses of level 1\\. It adds `));
  assertMatch(stdout, /^held {7}4\.1 List animals: a list is a bare array/);
  assertMatch(stdout, /\n(\d+) clauses: \d+ held, 0 broken, 0 not tried\n$/);
  assertEquals(await service.animals(), []);

  const json = await runTask(
    [...args, "--read-only-key", readOnlyKey, "--json"],
    OPTIONS,
  );
  const { held, broken, clauses, left, ...rest } = JSON.parse(json.stdout);
  assertEquals([json.code, broken, left, rest], [0, 0, [], {
    base: address,
    level: 1,
    notTried: 0,
  }]);
  assertEquals(clauses.length, held);
  for (const output of [stdout, stderr, json.stdout, json.stderr]) {
    assert(!output.includes(key) && !output.includes(readOnlyKey));
  }
});

test("conformance: a broken clause exits 1 with what was sent, expected and came, but no key", async () => {
  const right = contractServer(KEY);
  await using server = serveFetch(async (request) => {
    const response = await right(request);
    if (response.status !== 404) return response;
    const said = JSON.stringify({ sent: request.headers.get("authorization"), bell: "\x07" });
    return new Response(`${said}\x1b[2J`, { status: 404, headers: { "x-key": KEY } });
  });
  const address = `http://127.0.0.1:${server.port}/v1`;
  const args = ["conformance", address, "--key", KEY, "--level", "1"];
  const { code, stdout, stderr } = await runTask(args, OPTIONS);
  assertEquals(code, 1, stderr);
  const report = `broken     4.3 Get an animal: an id that no animal has gets 404
  sent:
    GET /pets/9007199254740991
  expected:
    404
`;
  assertStringIncludes(stdout, report);
  assertStringIncludes(stdout, `    {"sent":"Bearer {key}","bell":"\\u0007"}\\u001b[2J`);
  assertStringIncludes(stdout, "    x-key: {key}\n");
  assertMatch(stdout, /\n\d+ clauses: \d+ held, 1 broken, 0 not tried\n/);
  assertMatch(stdout, /\nThe service did not remove what was added: \/pets\/17( \/pets\/\d+)+\n$/);
  assert(!`${stdout}${stderr}`.includes(KEY));
});

test("conformance: what cannot be judged gets one line and exits 2", async () => {
  await using service = await serveService();
  const { address, key, readOnlyKey } = service;
  const unknown = key.replace(/.{4}$/, "0000");
  const noAddress = "http://127.0.0.1:9/v1";
  const form = "The command takes a base address like https://host/v1, not ";
  const cases: [args: string[], line: string][] = [
    [[], "Name a base address like https://host/v1; see --help"],
    [[address], "--key is required: an API key that may write; see --help"],
    [[address, "--key", "a b"], "--key takes an API key: printable characters"],
    [[address, "--key", key, "--level", "3"], '--level takes 1 or 2, not "3"; see --help'],
    [[address.replace("/v1", ""), "--key", key], form],
    [[`${address}/pets`, "--key", key], form],
    [["ftp://host/v1", "--key", key], form],
    [[`${address}?key=${key}`, "--key", key], `${form}"${address}?key=pets_…"`],
    [[address, key], 'Unexpected argument "pets_…"; see --help'],
    [[noAddress, "--key", key], `${noAddress} does not answer: `],
    [
      [address.replace("/v1", "/other/v1"), "--key", key],
      `No animal store is at ${address.replace("/v1", "/other/v1")}: GET /pets gets 404`,
    ],
    [[address, "--key", unknown], "The service refuses the key of --key: GET /pets gets 401"],
    [[address, "--key", readOnlyKey], "The key of --key may only read"],
    [
      [address, "--key", key, "--read-only-key", unknown],
      "The service refuses the key of --read-only-key: GET /pets gets 401",
    ],
    [[address, "--key", key, "--read-only-key", key], "The key of --read-only-key may write"],
  ];
  for (const [args, line] of cases) {
    const { code, stdout, stderr } = await runTask(["conformance", ...args], OPTIONS);
    assertEquals([code, stdout, stderr.split("\n").length], [2, "", 2], stderr);
    assert(stderr.startsWith(`error: ${line}`), `${stderr} is not ${line}`);
    assert(![key, readOnlyKey, unknown].some((it) => stderr.includes(it)), stderr);
  }
  assertEquals(await service.animals(), []);
});

test("conformance: Ctrl-C removes what was added, also by a request under way", async () => {
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  await using service = await serveService(async (request, next) => {
    const response = await next(request);
    if (response.status === 201) {
      begin();
      // The animal is there, but the command does not know it yet.
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    return response;
  });
  const args = ["conformance", service.address, "--key", service.key];
  const task = spawnTask(args, { ...OPTIONS, detached: true });
  const ending = outcomeOf(task);
  await begun;
  Deno.kill(-task.pid, "SIGINT");
  const { code, stderr } = await ending;
  await task.stdin.close().catch(() => {});
  assertEquals([code, stderr.trimEnd().split("\n").at(-1)], [
    130,
    "Interrupted. All that was added is removed.",
  ]);
  assertEquals(await service.animals(), []);
});
