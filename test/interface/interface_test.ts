/**
 * Tells the stories of the interface to the handler, each with an empty store, and over a socket. It also asserts what
 * holds for each response of the handler: that it is described, that it shows no key, that nothing is stored if it is an
 * error, and that a failure of the service is in its log.
 */

import { sha256Hex } from "eventstore-less/parts";
import { systemRuntime } from "eventstore-less/startup";
import { assert, assertEquals } from "@std/assert";
import { APPLICATION } from "../../src/application.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { createService } from "../../src/service.ts";
import { describedAnswer } from "../support/assert_described.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { serveOnSocket } from "../support/serve_on_socket.ts";
import { permissions } from "../support/test_needing.ts";
import { openTestService, type TestService, WEBHOOK_KEYS } from "../support/test_service.ts";
import { happen, repair } from "./happenings.ts";
import { CLAUSES } from "./sections.ts";
import { NEEDS } from "./story.ts";
import { issueKeys, testStories } from "./target.ts";
import { type Listener, tell } from "./tell.ts";
import { update } from "./update.ts";

const IS_UPDATE = Deno.args.includes("--update");

const BASE = "http://localhost/v1";

for (const clause of CLAUSES) {
  Deno.test(clause.name, async () => {
    await using service = await openTestService();
    const reader = await issueApiKey(service, { label: "reader", isReadOnly: true });
    const listener: Listener = {
      base: BASE,
      send: sendTo(service),
      key: service.token,
      readOnlyKey: reader.token,
      has: NEEDS,
      happen: (words) => happen(words, { service, readerId: reader.id }),
    };
    if (IS_UPDATE) await update(clause, listener);
    else assertEquals(await tell(clause, listener), undefined);
    repair(service);
  });
}

// After an update, these stories are still the former ones.
if (!IS_UPDATE) {
  testStories({ name: "over a socket", needs: [permissions("net")], open: openOnSocket });
}

function sendTo(service: TestService): Listener["send"] {
  const { handler, faults, token, runtime } = service;
  const fetch = fetchFrom(handler);
  const headNow = () => readHead(APPLICATION, faults.inner);
  return async (input, init) => {
    const before = await headNow();
    const path = `/v1${String(input).slice(BASE.length)}`;
    const answering = runtime.settle(fetch(new Request(input, init)));
    const response = await describedAnswer(init?.method, path, answering);
    const text = JSON.stringify([...response.headers]) + await response.clone().text();
    for (const secret of [token.slice(5), sha256Hex(token)]) assert(!text.includes(secret), text);
    if (response.status >= 400) assertEquals(await headNow(), before);
    assertEquals(logged(service, response), await expectedLog(response));
    return response;
  };
}

/** What the service has logged of a request. */
function logged({ reports }: TestService, { headers }: Response): unknown[] {
  const requestId = headers.get("x-request-id");
  return reports.filter(([, , details]) => details?.requestId === requestId)
    .map(([level, event, details]) => [level, event, details?.code, details?.status]);
}

async function expectedLog(response: Response): Promise<unknown[]> {
  const { status } = response;
  if (status < 500) return [];
  const { code } = await response.clone().json();
  // The store logs its own full disk.
  if (code === "storage_full") return [];
  return [[status === 503 ? "warn" : "error", "request_failed", code, status]];
}

async function openOnSocket(stack: AsyncDisposableStack) {
  const store = await SqliteStore.open(":memory:");
  stack.defer(() => store.close());
  const webhookKeys = WEBHOOK_KEYS;
  const service = createService({ store, runtime: systemRuntime, report() {}, webhookKeys });
  stack.defer(() => service.appender.drain());
  const { port } = stack.use(await serveOnSocket(service));
  const address = `http://127.0.0.1:${port}`;
  return { addresses: [address], base: `${address}/v1`, ...await issueKeys(service) };
}
