/** Processes of the service that call a receiver over the network. */

import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { importTestPackage } from "../../support/import_test_package.ts";
import { serveFetch } from "../../support/fetch_from.ts";
import { freePort } from "../../support/free_port.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";

const test = testNeeding(PROCESSES);

const ENV = {
  WEBHOOK_KEY: "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
  WEBHOOK_ALLOW: "127.0.0.1",
};

const PET = { name: "Rex", categoryId: 7 };

test("a receiver gets each addition, verifies it, and gets the rest after a restart, and the metrics tell where it is", async () => {
  const { Webhook } = await importTestPackage("standardwebhooks");
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  let secret = "";
  let id = "";
  const got: number[] = [];
  let tests = 0;
  await using receiver = serveFetch(async (request) => {
    const headers = Object.fromEntries(request.headers);
    const { type, data } = new Webhook(secret).verify(await request.text(), headers);
    if (type === "WebhookTest") tests++;
    else got.push(data.id);
    return new Response(null, { status: 204 });
  });
  {
    await using service = await ServiceProcess.start(temp.kvPath, ENV);
    const client = service.client(token);
    const url = `http://127.0.0.1:${receiver.port}/hooks`;
    const added = await (await client.addWebhook({ url })).json();
    ({ id, secret } = added);
    for (let count = 0; count < 5; count++) await (await client.add(PET)).body?.cancel();
    await until(() => got.length === 5);
    const attempts = `/v1/webhooks/${added.id}/attempts`;
    const tested = await client.send(attempts, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assertEquals([(await tested.json()).status, tests], [204, 1]);
    assertEquals(await service.stop(), 0);
  }
  const METRICS_PORT = String(freePort());
  await using service = await ServiceProcess.start(temp.kvPath, { ...ENV, METRICS_PORT });
  await (await service.client(token).add(PET)).body?.cancel();
  await until(() => got.length === 6);
  assertEquals(got, [1, 2, 3, 4, 5, 6]);
  const metrics = async () => {
    return await (await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`)).text();
  };
  const consumer = `{consumer="webhooks/${id}"}`;
  await until(async () => (await metrics()).includes(`\nanimal_store_consumer_lag${consumer} 0\n`));
  const text = await metrics();
  for (
    const line of [
      'animal_store_webhooks_attempts_total{outcome="confirmed",} 1',
      "animal_store_webhooks_disabled 0",
      `animal_store_consumer_position${consumer} 8`,
      `animal_store_consumer_failing_seconds${consumer} 0`,
      `animal_store_consumer_stopped${consumer} 0`,
    ]
  ) assertStringIncludes(text, `\n${line}\n`);
});

test("a receiver that hangs does not delay the end of the service", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  let calls = 0;
  await using receiver = serveFetch(() => {
    calls++;
    return new Promise<Response>(() => {});
  });
  await using service = await ServiceProcess.start(temp.kvPath, ENV);
  const client = service.client(token);
  const url = `http://127.0.0.1:${receiver.port}/hooks`;
  await (await client.addWebhook({ url })).body?.cancel();
  await (await client.add(PET)).body?.cancel();
  await until(() => calls === 1);
  const begin = performance.now();
  assertEquals(await service.stop(), 0);
  // The attempt itself would take 15 s.
  assertLess(performance.now() - begin, 12_000);
  assert(service.lines.some((line) => line.includes('"stopped"')), service.lines.join("\n"));
});
