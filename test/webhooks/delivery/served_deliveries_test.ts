/** Processes of the service that call a receiver over the network. */

import { assert, assertEquals, assertLess } from "@std/assert";
import { importTestPackage } from "../../support/import_test_package.ts";
import { serveFetch } from "../../support/fetch_from.ts";
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

test("a receiver gets each addition, verifies it, and gets the rest after a restart", async () => {
  const { Webhook } = await importTestPackage("standardwebhooks");
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  let secret = "";
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
    secret = added.secret;
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
  await using service = await ServiceProcess.start(temp.kvPath, ENV);
  await (await service.client(token).add(PET)).body?.cancel();
  await until(() => got.length === 6);
  assertEquals(got, [1, 2, 3, 4, 5, 6]);
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
  assertLess(performance.now() - begin, 5_000);
  assert(service.lines.some((line) => line.includes('"stopped"')), service.lines.join("\n"));
});
