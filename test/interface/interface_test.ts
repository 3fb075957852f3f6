/**
 * Tells the stories of the interface to the handler, each with an empty store. It also asserts what holds for each
 * response: that it is described, that it shows no key, and that nothing is stored if it is an error.
 */

import { assert, assertEquals } from "@std/assert";
import { APPLICATION } from "../../src/application.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { describedAnswer } from "../support/assert_described.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { openTestService, type TestService } from "../support/test_service.ts";
import { CLAUSES } from "./sections.ts";
import { NEEDS } from "./story.ts";
import { type Listener, tell } from "./tell.ts";

const BASE = "http://localhost/v1";

for (const clause of CLAUSES) {
  Deno.test(clause.name, async () => {
    await using service = await openTestService();
    const { token: readOnlyKey } = await issueApiKey(service, {
      label: "reader",
      isReadOnly: true,
    });
    const send = sendTo(service);
    const listener = { base: BASE, key: service.token, readOnlyKey, has: NEEDS, send };
    assertEquals(await tell(clause, listener), undefined);
  });
}

function sendTo({ handler, store, token }: TestService): Listener["send"] {
  const fetch = fetchFrom(handler);
  return async (input, init) => {
    const path = String(input).slice(BASE.length);
    const before = await readHead(APPLICATION, store);
    const response = await describedAnswer(
      init?.method,
      `/v1${path}`,
      fetch(new Request(input, init)),
    );
    const shown = JSON.stringify([...response.headers]) + await response.clone().text();
    assert(!shown.includes(token.slice(5)), shown);
    if (response.status >= 400) assertEquals(await readHead(APPLICATION, store), before);
    return response;
  };
}
