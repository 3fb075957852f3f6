import { assertEquals, assertMatch } from "@std/assert";
import { changeUnlogged } from "eventstore-less/parts";
import { WebhookKeys } from "../../../src/webhooks/secrets.ts";
import { serveFetch } from "../../support/fetch_from.ts";
import { expectTask, expectTaskFails, runTask } from "../../support/run_task.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES);

const ID = "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B";
const NOBODY = "01KA7Z9MZ4QH4C4P5R4Z2Y0V7C";
const URL = "https://shop.example/hooks";
const KEY = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/** A store with a webhook and its last attempt. */
async function makeStore(): Promise<TempStore> {
  const temp = await TempStore.make();
  await temp.issueApiKey();
  await temp.use(async ({ append, runtime, store }) => {
    const data = { webhookId: ID, url: URL, secretKey: "0123456789abcdef" };
    await append({ decide: () => [{ id: ID, type: "WebhookAdded", data }] });
    const attempt = {
      eventId: "0000000000000002-9c1f04a6d2e87b35",
      time: "2026-01-02T03:04:05.678Z",
      durationMs: 31,
      status: 500,
      answer: "No\nroom",
    };
    await changeUnlogged({ runtime, store }, ["webhook_attempts", ID], () => [attempt]);
  });
  return temp;
}

test("webhooks: lists them, and shows the last attempts of one", async () => {
  await using temp = await makeStore();
  const { kvPath } = temp;
  const [head, row, ...rest] = (await expectTask(["webhooks", "list"], { kvPath })).split("\n");
  assertMatch(head, /^ID +STATE +PLACE +BEHIND +URL +FAILURE$/);
  assertMatch(row, RegExp(`^${ID} +working +- +- +${URL}$`));
  assertEquals(rest, [""]);
  const env = { WEBHOOK_KEY: KEY };
  const byOther = await expectTask(["webhooks", "list"], { kvPath, env });
  assertMatch(byOther, RegExp(`^${ID} +off `, "m"));
  const attempts = await expectTask(["webhooks", "attempts", ID], { kvPath });
  assertMatch(attempts, /^2026-01-02 03:04:05Z +0000000000000002-\w+ +500 +31 ms +No room$/m);
  const [attempt] = JSON.parse(
    await expectTask(["webhooks", "attempts", ID, "--json"], { kvPath }),
  );
  assertEquals([attempt.status, attempt.answer], [500, "No\nroom"]);
});

test("webhooks place: lets the deliveries continue after a position", async () => {
  await using temp = await makeStore();
  const { kvPath } = temp;
  await expectTask(["webhooks", "place", ID, "--after", "1"], { kvPath });
  const [webhook] = JSON.parse(await expectTask(["webhooks", "list", "--json"], { kvPath }));
  assertEquals([webhook.id, webhook.position, webhook.lag], [ID, 1, 1]);
  assertEquals(Object.hasOwn(webhook, "secrets"), false);
  const place = (id: string, after: string) => ["webhooks", "place", id, "--after", after];
  await expectTaskFails(1, /has no position 9/, place(ID, "9"), { kvPath });
  await expectTaskFails(1, /No webhook has the id/, place(NOBODY, "1"), { kvPath });
  await expectTaskFails(2, /--after is required/, ["webhooks", "place", ID], { kvPath });
  await expectTaskFails(2, /needs the id/, ["webhooks", "attempts"], { kvPath });
  await expectTaskFails(2, /Use list, attempts, place or send/, ["webhooks", "show"], { kvPath });
});

test("webhooks send: calls the endpoint once with an event or a test, and exits with 1 if it is not confirmed", async () => {
  await using temp = await TempStore.make();
  const { kvPath } = temp;
  await temp.issueApiKey();
  const got: string[] = [];
  await using receiver = serveFetch(async (request) => {
    got.push((await request.json()).type);
    return new Response("No", { status: got.length === 1 ? 200 : 500 });
  });
  const env = { WEBHOOK_KEY: KEY, WEBHOOK_ALLOW: "127.0.0.1" };
  const keys = WebhookKeys.parse(KEY)!;
  await temp.use(async ({ append }) => {
    const url = `http://127.0.0.1:${receiver.port}/`;
    const data = { webhookId: ID, url, secretKey: keys.latest };
    await append({ decide: () => [{ id: ID, type: "WebhookAdded", data }] });
    const named = { id: 7n, name: "Dogs" };
    await append({
      decide: () => [{ type: "CategoryNamed", data: named, predecessor: undefined }],
    });
  });
  const send = (...flags: string[]) => runTask(["webhooks", "send", ID, ...flags], { kvPath, env });
  const test = await send();
  assertEquals(test.code, 0, test.stderr);
  assertMatch(test.stderr, /^Sent test-\w+: 200, in \d+ ms$/m);
  const event = await send("--event", "3");
  assertEquals(event.code, 1);
  assertMatch(event.stderr, /^Sent 0000000000000003-\w{16}: 500, in \d+ ms$/m);
  assertEquals(got, ["WebhookTest", "CategoryNamed"]);
  const attempts = await expectTask(["webhooks", "attempts", ID, "--json"], { kvPath });
  assertEquals(JSON.parse(attempts).map(({ status }: { status: number }) => status), [500, 200]);
  const issue = await send("--event", "1");
  assertEquals(issue.code, 1);
  assertMatch(issue.stderr, /no event that is delivered/);
});
