import { systemRuntime } from "eventstore-less/startup";
import { APPLICATION } from "../../src/application.ts";
import { assertEquals, assertMatch } from "@std/assert";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { Server } from "../../src/server/server.ts";
import { type Client, clientOf, openTestService, type TestService } from "./test_service.ts";
import { type Need, permissions, testNeeding } from "./test_needing.ts";

/** A way to reach a service on an empty store. */
export interface Way {
  /** The suffix of the names of the tests. */
  suffix: string;
  needs: Need[];
  open(): Promise<Client & Pick<TestService, "store" | "token"> & AsyncDisposable>;
}

/**
 * The ways of {@linkcode testEachWay}: on the handler, and over a real socket. Only the second sees what a server
 * changes, such as HEAD, unread bodies and unusual URLs. Tests of another runtime replace them.
 */
export const WAYS: Way[] = [
  { suffix: "", needs: [], open: () => openTestService() },
  { suffix: " (over a socket)", needs: [permissions("net")], open: openOnSocket },
];

/** Declares a test once for each of {@linkcode WAYS}. */
export function testEachWay(name: string, check: (service: TestService) => Promise<void>): void {
  for (const { suffix, needs, open } of WAYS) {
    testNeeding(...needs)(`${name}${suffix}`, async () => {
      await using service = await open();
      await check(service as TestService);
    });
  }
}

async function openOnSocket(): Promise<TestService> {
  const service = await openTestService();
  const server = await serveOnSocket(service);
  const origin = `http://127.0.0.1:${server.port}`;
  const client = clientOf(service.token, (path, init) => fetch(`${origin}${path}`, init));
  const close = async () => {
    await server[Symbol.asyncDispose]();
    await service[Symbol.asyncDispose]();
  };
  return { ...service, ...client, [Symbol.asyncDispose]: close };
}

/** Serves on a free port of this machine until disposed of. */
export async function serveOnSocket({ handler }: Pick<TestService, "handler">) {
  const common = { hostname: "127.0.0.1", port: 0, runtime: systemRuntime, report() {} };
  const server = await Server.listen({ ...common, handler });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

export interface Expected {
  status: number;
  code: string;
  /** The expected message; by default any well-formed one. */
  message?: RegExp;
}

/** Asserts that a request gets an Error and that the log's head has not moved. Returns the response. */
export async function assertRefused(
  service: TestService,
  request: () => Promise<Response>,
  expected: Expected,
): Promise<Response> {
  const before = await readHead(APPLICATION, service.store);
  const response = await request();
  await assertError(response, expected);
  assertEquals(
    await readHead(APPLICATION, service.store),
    before,
    "a refused request stores nothing",
  );
  return response;
}

/** Asserts what the Error of a response says. The client of a test service has asserted that it is one. */
export async function assertError(response: Response, expected: Expected): Promise<void> {
  const text = await response.text();
  const { status, code, message } = JSON.parse(text);
  assertEquals([status, code], [expected.status, expected.code], text);
  assertEquals(response.status, status);
  assertMatch(message, expected.message ?? /^[A-Z"].*[^.]$/);
}
