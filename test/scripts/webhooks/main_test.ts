import { assertEquals, assertMatch } from "@std/assert";
import { changeUnlogged } from "eventstore-less/parts";
import { expectTask, expectTaskFails } from "../../support/run_task.ts";
import { TempStore } from "../../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES);

const ID = "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B";
const NOBODY = "01KA7Z9MZ4QH4C4P5R4Z2Y0V7C";
const URL = "https://shop.example/hooks";

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
  await expectTaskFails(2, /Use list, attempts or place/, ["webhooks", "show"], { kvPath });
});
