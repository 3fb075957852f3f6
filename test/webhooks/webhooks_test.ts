/** Webhooks of several instances, their damaged records, and where their secrets are not. */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { readLog } from "eventstore-less/parts";
import { kindPrefix, projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { scan } from "../../src/eventstore_less/store/scan.ts";
import { redactKeys } from "../../src/runtime/redact_keys.ts";
import { WebhookKeys } from "../../src/webhooks/secrets.ts";
import { webhookContentOf, webhookKey } from "../../src/webhooks/webhook_records.ts";
import { assertError } from "../support/assert_error.ts";
import { putRecord } from "../support/set_record.ts";
import {
  openTestService,
  otherInstance,
  type TestService,
  WEBHOOK_KEYS,
} from "../support/test_service.ts";
import { audit, replay } from "../support/tools.ts";

const TERMS = { url: "https://shop.example/hooks", description: "Zoë's shop" };

async function bodyOf(responding: Promise<Response>) {
  return await (await responding).json();
}

Deno.test("another instance shows and decides on each webhook at once", async () => {
  await using service = await openTestService();
  const other = otherInstance(service);
  const { secret: _, ...added } = await bodyOf(service.addWebhook(TERMS));
  assertEquals(await bodyOf(other.send("/v1/webhooks")), [added]);
  const changed = await bodyOf(other.updateWebhook(added.id, { description: null }));
  assertEquals(await bodyOf(service.send(`/v1/webhooks/${added.id}`)), changed);
  assertEquals((await service.removeWebhook(added.id)).status, 204);
  assertEquals((await other.updateWebhook(added.id, { description: "a" })).status, 404);
  assertEquals(await bodyOf(other.send("/v1/webhooks")), []);
  assertEquals((await audit(service)).faults, []);
});

Deno.test("additions at once are decided one after the other, and at most 100 are there", async () => {
  await using service = await openTestService();
  const requests = Array.from({ length: 103 }, (_, index) => {
    return service.addWebhook({ url: `https://shop.example/${index}` });
  });
  const responses = await service.runtime.settle(Promise.all(requests));
  const statuses = responses.map(({ status }) => status).sort();
  assertEquals(statuses, [...Array(100).fill(201), ...Array(3).fill(409)]);
  const listed: { id: string }[] = await bodyOf(service.send("/v1/webhooks"));
  assertEquals(new Set(listed.map(({ id }) => id)).size, 100);
  assertEquals((await audit(service)).faults, []);
});

/** A damage of the record of the first of two webhooks, and the statuses of a list and of a change of the other one. */
type Damage = [name: string, damage: (service: TestService) => Promise<void>, statuses: number[]];

const keyOf = (id: string) => projectionKey(1, webhookKey(id));

async function contentOfFirst({ heads, webhooks }: TestService, more: object) {
  const [first] = (await webhooks.asOf((await heads.fresh()).head)).byId.values();
  const { id, text: _, position, isProven: __, ...webhook } = first;
  return { id, content: webhookContentOf(position, { ...webhook, ...more }) };
}

const DAMAGES: Damage[] = [
  ["a lost webhook", async (service) => {
    const { id } = await contentOfFirst(service, {});
    await putRecord(service.store, keyOf(id), undefined);
  }, [500, 500]],
  ["another url", async (service) => {
    const { id, content } = await contentOfFirst(service, { url: "https://other.example" });
    await putRecord(service.store, keyOf(id), content);
  }, [200, 500]],
  ["another secret", async (service) => {
    const secrets = [{ eventId: "01HZZZZZZZ0000000000000001", secretKey: "0123456789abcdef" }];
    const { id, content } = await contentOfFirst(service, { secrets });
    await putRecord(service.store, keyOf(id), content);
  }, [200, 500]],
];

for (const [name, damage, statuses] of DAMAGES) {
  Deno.test(`${name} refuses what would be decided on it, until a replay`, async () => {
    await using service = await openTestService();
    await bodyOf(service.addWebhook(TERMS));
    const { id } = await bodyOf(service.addWebhook(TERMS));
    await damage(service);
    const other = otherInstance(service);
    const requests = [
      () => other.send("/v1/webhooks"),
      () => other.updateWebhook(id, { description: "a" }),
    ];
    for (const [index, request] of requests.entries()) {
      const response = await request();
      assertEquals(response.status, statuses[index]);
      if (response.status === 200) await response.body?.cancel();
      else await assertError(response, { status: 500, code: "projection_damaged" });
    }
    assertEquals((await audit(service)).sound, false);
    await service.runtime.settle(replay(service));
    assertEquals((await other.updateWebhook(id, { description: "a" })).status, 200);
    assertEquals((await audit(service)).faults, []);
  });
}

Deno.test("a secret is in no event, no record, no line of the log of the service, and no further response", async () => {
  await using service = await openTestService({ accessLog: true });
  const { addWebhook, rotateWebhookSecret, send, store } = service;
  const added = await bodyOf(addWebhook(TERMS, { "idempotency-key": "a" }));
  const rotated = await bodyOf(rotateWebhookSecret(added.id));
  const secrets = [added.secret, rotated.secret];
  assertNotEquals(added.secret, rotated.secret);
  const misdirected = await send(`/v1/webhooks/${encodeURIComponent(added.secret)}`);
  await assertError(misdirected, { status: 404, code: "webhook_not_found" });
  const shown = await Promise.all(
    ["webhooks", `webhooks/${added.id}`, "events", "key"]
      .map(async (path) => await (await send(`/v1/${path}`)).text()),
  );
  const decoder = new TextDecoder();
  const lines: string[] = [];
  for await (const some of readLog(store, { from: 1, to: 3 })) {
    lines.push(...some.map(({ line }) => decoder.decode(line)));
  }
  const entries = await Array.fromAsync(scan(store, { prefix: kindPrefix(1, "webhook") }));
  const records = entries.flat().map(({ value }) => decoder.decode(value as Uint8Array));
  assertEquals([lines.length, records.length], [3, 1]);
  // As the logger writes them.
  const reports = redactKeys(JSON.stringify(service.reports));
  assert(reports.includes("/v1/webhooks/whsec_…"));
  const all = [...shown, ...lines, ...records, reports].join("\n");
  assert(all.includes(added.id));
  for (const secret of secrets) assertEquals(all.includes(secret.slice("whsec_".length)), false);
});

Deno.test("a repeated addition shows its secret as long as the service has its key", async () => {
  await using service = await openTestService();
  const once = { "idempotency-key": "a" };
  const { secret } = await bodyOf(service.addWebhook(TERMS, once));
  const withKeys = (webhookKeys: WebhookKeys) => otherInstance(service, { webhookKeys });
  const other = WebhookKeys.of([new Uint8Array(32).fill(1)]);
  const lost = await withKeys(other).addWebhook(TERMS, once);
  await assertError(lost, {
    status: 409,
    code: "webhooks_off",
    message: /^The service has lost the key of this secret: rotate the secret$/,
  });
  const repeated = await withKeys(WEBHOOK_KEYS).addWebhook(TERMS, once);
  assertEquals([repeated.status, (await repeated.json()).secret], [201, secret]);
});
