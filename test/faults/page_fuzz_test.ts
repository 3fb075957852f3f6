import { assert, assertEquals } from "@std/assert";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { fuzzPages } from "./page_fuzz.ts";

const test = testNeeding(PROCESSES);

test("each page of two services is as of the head that it names, beside writers, kills and replays", async () => {
  const { pages, failures } = await fuzzPages(300);
  assert(pages >= 300);
  assertEquals(failures, []);
});
