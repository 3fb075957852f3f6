/** A program without categories, as before release 6.0, refuses what has their events, and names that release. */

import { assertEquals, assertMatch } from "@std/assert";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { readLogLines } from "../support/sound_log.ts";
import { openTestService } from "../support/test_service.ts";
import { importFromCopy, withProjectCopy } from "../support/with_project_copy.ts";

type EventModule = typeof import("../../src/eventstore_less/log/event.ts");
type HeadModule = typeof import("../../src/eventstore_less/log/head.ts");

testNeeding(PROCESSES)(
  "a version without categories refuses a store and lines with their events",
  () =>
    withProjectCopy(async (project) => {
      const application = `${project}/src/application.ts`;
      const text = await Deno.readTextFile(application);
      const without = text.replace(", CATEGORIES", "");
      assertEquals(without.length, text.length - ", CATEGORIES".length);
      await Deno.writeTextFile(application, without);
      const path = "src/eventstore_less/log";
      const { decodeEvent } = await importFromCopy<EventModule>(project, `${path}/event.ts`);
      const { decodeHeadRecord } = await importFromCopy<HeadModule>(project, `${path}/head.ts`);

      await using service = await openTestService();
      const { add, nameCategory, removeCategory, store } = service;
      const headOf = async () => decodeHeadRecord((await store.get(HEAD_KEY))!.value);
      await add({ name: "Rex", categoryId: 7 });
      assertEquals((await headOf()).kind, "head");
      await nameCategory(7n, "Dogs");
      const named = await headOf();
      assertEquals(named.kind, "other_format");
      assertMatch(JSON.stringify(named), /category-named:6\.0.*version 6\.0/);
      await removeCategory(7n);
      const [, addition, ...others] = await readLogLines(store);
      assertEquals(decodeEvent(addition).type, "PetCreated");
      const messages = others.map((line) => {
        try {
          return decodeEvent(line).type;
        } catch (error) {
          return (error as Error).message;
        }
      });
      const messageOf = (schema: string) =>
        `A newer version wrote the line: its schema urn:animal-store:${schema}:6.0 needs version 6.0`;
      assertEquals(messages, ["category-named", "category-removed"].map(messageOf));
    }),
);
