/** Who caused an event, as clients see it. */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { issueApiKey, rotateApiKey } from "../../src/keys/write_api_key.ts";
import { readLogLines } from "../support/sound_log.ts";
import { clientOfHandler, openTestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7 };

/** A store with events of a key, and of its successor with another label. */
async function open() {
  const service = await openTestService();
  const { id: desk, token } = await issueApiKey(service, { label: "Front desk" });
  const client = clientOfHandler(token, service.handler);
  await (await client.add(REX)).body?.cancel();
  await (await client.nameCategory(7n, "Dogs")).body?.cancel();
  const { successor } = await rotateApiKey(service, desk, { overlapMs: 0, label: "Back “office”" });
  const later = clientOfHandler(successor.token, service.handler);
  await (await later.change(1, { status: "sold" })).body?.cancel();
  return { service, desk, office: successor.id };
}

const actorsIn = (events: Record<string, string>[]) =>
  events.map(({ type, actor, actorlabel }) => [type, actor, actorlabel]);

Deno.test("an event has the label of its API key at its time, which the log does not have", async () => {
  const { service, desk, office } = await open();
  await using _ = service;
  const created = ["PetCreated", desk, "Front desk"];
  const named = ["CategoryNamed", desk, "Front desk"];
  const updated = ["PetUpdated", office, "Back “office”"];
  const cases: [path: string, events: string[][]][] = [
    ["/v1/pets/1/events", [updated, created]],
    ["/v1/categories/7/events", [named]],
    ["/v1/events?actors=true", [created, named, updated]],
  ];
  for (const [path, events] of cases) {
    assertEquals(actorsIn(await (await service.send(path)).json()), events, path);
  }
  const lines = await readLogLines(service.store);
  assertEquals(lines.filter((line) => line.includes("actorlabel")), []);
});

Deno.test("a stream has the labels of keys that were issued after it began, and the next batch asks for actors, too", async () => {
  const { service } = await open();
  await using _ = service;
  const batch = await service.send("/v1/events?actors=true&limit=1");
  assertStringIncludes(batch.headers.get("link")!, "actors=true");
  await batch.body?.cancel();
  const headers = { accept: "text/event-stream" };
  const stream = await service.send("/v1/events?actors=true&lastEventId=now", { headers });
  const reader = stream.body!.pipeThrough(new TextDecoderStream()).getReader();
  await reader.read();
  const { token } = await issueApiKey(service, { label: "Night shift" });
  const client = clientOfHandler(token, service.handler);
  await (await client.change(1, { name: "Max" })).body?.cancel();
  let text = "";
  while (!text.includes("PetUpdated")) {
    text += (await service.runtime.settle(reader.read())).value;
  }
  assertStringIncludes(text, '"actorlabel":"Night shift","datacontenttype"');
  await reader.cancel();
});
