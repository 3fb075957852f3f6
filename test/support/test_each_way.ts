import { assertEquals, assertMatch } from "@std/assert";
import { readHead } from "../../src/log/head.ts";
import { Server } from "../../src/server/server.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { type Client, clientOf, openTestService, type TestService } from "./test_service.ts";
import { testPermitted } from "./test_permitted.ts";

/** Services for {@linkcode testEachWay}, by their names. Tests of another runtime set some, which replace its own. */
export const OTHER_SERVICES: Record<
  string,
  () => Promise<Client & Pick<TestService, "store" | "token"> & AsyncDisposable>
> = {};

/**
 * Declares a test twice: on the handler, and over a real socket if the tests may open one. Only the second
 * sees what a server changes, such as HEAD, unread bodies and unusual URLs.
 */
export function testEachWay(name: string, check: (service: TestService) => Promise<void>): void {
  for (const [other, open] of Object.entries(OTHER_SERVICES)) {
    Deno.test(`${name} (${other})`, async () => {
      await using service = await open();
      await check(service as TestService);
    });
  }
  if (Object.keys(OTHER_SERVICES).length > 0) return;
  Deno.test(name, async () => {
    await using service = await openTestService();
    await check(service);
  });
  testPermitted("net")(`${name} (over a socket)`, async () => {
    await using service = await openTestService();
    await using server = await serveOnSocket(service);
    const origin = `http://127.0.0.1:${server.port}`;
    const client = clientOf(service.token, (path, init) => fetch(`${origin}${path}`, init));
    await check({ ...service, ...client });
  });
}

/** Serves on a free port of this machine until disposed of. */
export function serveOnSocket({ handler }: Pick<TestService, "handler">) {
  const common = { hostname: "127.0.0.1", port: 0, runtime: systemRuntime, report() {} };
  const server = new Server({ ...common, handler });
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
  const before = await readHead(service.store);
  const response = await request();
  await assertError(response, expected);
  assertEquals(await readHead(service.store), before, "a refused request stores nothing");
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
