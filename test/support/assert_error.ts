import { assertEquals, assertMatch } from "@std/assert";
import { APPLICATION } from "../../src/application.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import type { TestService } from "./test_service.ts";

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
