/** Tells the stories of the interface to the handler, each with an empty store. */

import { assertEquals } from "@std/assert";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { describedAnswer } from "../support/assert_described.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { openTestService } from "../support/test_service.ts";
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
    const fetch = fetchFrom(service.handler);
    const send: Listener["send"] = (input, init) => {
      const path = String(input).slice(BASE.length);
      return describedAnswer(init?.method, `/v1${path}`, fetch(new Request(input, init)));
    };
    const listener = { base: BASE, key: service.token, readOnlyKey, has: NEEDS, send };
    assertEquals(await tell(clause, listener), undefined);
  });
}
