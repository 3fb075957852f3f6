/** A program without categories, as before release 6.0, refuses what has their events, and names that release. */

import { assertEquals, assertMatch } from "@std/assert";
import { defineApplication } from "eventstore-less";
import { readEvent } from "../../src/eventstore_less/log/lines.ts";
import { MalformedEventError } from "../../src/eventstore_less/log/event.ts";
import { PETS } from "../../src/animals/pets.ts";
import { APPLICATION } from "../../src/application.ts";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { decodeHeadRecord } from "../../src/eventstore_less/log/head.ts";
import { API_KEYS } from "../../src/keys/api_keys.ts";
import { readLogLines } from "../support/sound_log.ts";
import { openTestService } from "../support/test_service.ts";

const EARLIER = defineApplication({ name: APPLICATION.name, collections: [PETS, API_KEYS] });

Deno.test("a version without categories refuses a store and lines with their events", async () => {
  await using service = await openTestService();
  const { add, nameCategory, removeCategory, store } = service;
  const headOf = async () => decodeHeadRecord(EARLIER, (await store.get(HEAD_KEY))!.value);
  await add({ name: "Rex", categoryId: 7 });
  assertEquals((await headOf()).kind, "head");
  await nameCategory(7n, "Dogs");
  const named = await headOf();
  assertEquals(named.kind, "refused");
  assertMatch(
    JSON.stringify(named),
    /events of the newer release 6\.0.*category-named:6\.0; use release 6\.0/,
  );
  await removeCategory(7n);
  const [, ...lines] = await readLogLines(store);
  const read = lines.map((line) => readEvent(EARLIER, new TextEncoder().encode(line)));
  const messages = read.map((it) => it instanceof MalformedEventError ? it.message : it.type);
  const messageOf = (schema: string) =>
    `A newer release wrote the line: its schema urn:animal-store:${schema}:6.0 needs release 6.0`;
  const schemas = ["category-named", "category-removed"];
  assertEquals(messages, ["PetCreated", ...schemas.map(messageOf)]);
});
