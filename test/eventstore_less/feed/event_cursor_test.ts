import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assertEquals } from "@std/assert";
import {
  EventCursor,
  type EventPart,
  followedParts,
} from "../../../src/eventstore_less/feed/event_cursor.ts";
import { feedPositionOf } from "../../../src/eventstore_less/feed/event_feed.ts";
import { Follower } from "../../../src/eventstore_less/feed/followers.ts";
import { EMPTY_HEAD } from "../../../src/eventstore_less/log/head.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const nextTask = () => new Promise((resolve) => setTimeout(resolve));

Deno.test("followedParts() keeps no part in memory while its reader is slow", async () => {
  const start = feedPositionOf(EMPTY_HEAD);
  const cursor = new EventCursor(undefined as never, start, {}, () => new Uint8Array());
  const follower = new Follower({ head: EMPTY_HEAD, versionstamp: null }, () => false);
  let made: WeakRef<EventPart> | undefined;
  const read = () => {
    const part = { texts: [new Uint8Array(1_000)], bytes: 1_000, lineCount: 1 };
    made = new WeakRef(part);
    return Promise.resolve(part);
  };
  const parts = followedParts(cursor, follower, read);
  const takeOne = async () => {
    const { value } = await parts.next();
    return value!.lineCount;
  };
  assertEquals(await takeOne(), 1);
  await nextTask();
  collectGarbage();
  assertEquals(made!.deref(), undefined);
  follower.end();
  assertEquals((await parts.next()).done, true);
});
