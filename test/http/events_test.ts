/** The operation `listEvents`: event streams, and batches that wait. `interface/feed` has the other batches. */

import { sha256Hex } from "eventstore-less/parts";
import { assert, assertEquals } from "@std/assert";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { HEARTBEAT_MS, STREAM_MS } from "../../src/http/events.ts";
import {
  FOLLOWERS_LIMIT,
  FOLLOWERS_OF_KEY_LIMIT,
} from "../../src/eventstore_less/feed/followers.ts";
import type { Service } from "../../src/service.ts";
import type { StoreEntry } from "../../src/eventstore_less/store/store.ts";
import { StoreAwayError } from "../../src/eventstore_less/store/store_errors.ts";
import { isDescribed } from "../support/assert_described.ts";
import { hold } from "../support/faulty_store.ts";
import {
  clientOfHandler,
  openTestService,
  otherInstance,
  type TestService,
} from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1 };

/** An upper limit of the delay until an event of another instance is out, in milliseconds. */
const ELSEWHERE_MS = 500;

interface CloudEvent {
  id: string;
  subject: string;
}

/** Pets 1 to 4, which change in all ways, with a key event between them. Then pet 2 is removed. */
async function addHistory(service: TestService): Promise<void> {
  for (const status of ["available", "sold", "pending"]) await service.add({ ...REX, status });
  await service.add(REX);
  await issueApiKey(service, { label: "between" });
  await service.change(1, { status: "pending" });
  await service.change(2, { name: "Max" });
  await service.change(3, { status: null });
  await service.change(4, { status: "sold", categoryId: 2 });
  await service.remove(2);
}

function ask(
  { handler, token }: Pick<TestService, "handler" | "token">,
  query: string,
  headers: HeadersInit = {},
  init: RequestInit = {},
): Promise<Response> {
  return clientOfHandler(token, handler).send(`/v1/events?${query}`, { ...init, headers });
}

/** Follows the Link headers until nothing comes, and resolves to all batches. */
async function readBatches(service: TestService, query: string): Promise<CloudEvent[][]> {
  const batches: CloudEvent[][] = [];
  for (;;) {
    const response = await ask(service, query);
    batches.push(await response.json());
    query = /^<http:\/\/localhost\/v1\/events\?(.*)>; rel="next"$/
      .exec(response.headers.get("link")!)![1];
    if (batches.at(-1)!.length === 0) return batches;
  }
}

/** A client that reads a stream as it comes. */
async function openStream(
  service: Pick<TestService, "handler" | "token" | "runtime">,
  query = "",
  headers: HeadersInit = {},
) {
  const response = await ask(service, query, { accept: "text/event-stream", ...headers });
  assertEquals([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
  const requestId = response.headers.get("x-request-id");
  const stream = { requestId, text: "", isOver: false, cancel: () => reader.cancel() };
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  (async () => {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      stream.text += value;
    }
  })().catch(() => {}).finally(() => stream.isOver = true);
  await service.runtime.advance(0);
  return stream;
}

/** The events of the messages of a stream, each as it is described. */
function eventsOf(text: string): CloudEvent[] {
  return [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => {
    const event = JSON.parse(json);
    assert(isDescribed("PetEvent", event), json);
    return event;
  });
}

Deno.test("a stream resumes after the event of Last-Event-ID, and ids sort as texts", async () => {
  await using service = await openTestService();
  await addHistory(service);
  const all = (await readBatches(service, "limit=3")).flat();
  const ids = all.map(({ id }) => id);
  assertEquals(ids, ids.toSorted());
  const { text } = await openStream(service, "", { "last-event-id": ids[2] });
  assertEquals(eventsOf(text), all.slice(3));
});

Deno.test("since begins at the first event that is not older, whatever the offset of its time, and waits after the last", async () => {
  await using service = await openTestService();
  for (let count = 0; count < 9; count++) {
    await service.add(REX);
    await service.runtime.advance(1_000);
  }
  const [all] = await readBatches(service, "");
  const times = (all as unknown as { time: string }[]).map(({ time }) => Date.parse(time));
  for (const since of times.flatMap((time) => [time - 1, time, time + 1])) {
    const expected = all.filter((_, index) => times[index] >= since);
    const utc = new Date(since).toISOString();
    const later = new Date(since + 3_600_000).toISOString().replace("Z", "+01:00");
    for (const time of [utc, later, encodeURIComponent(later)]) {
      assertEquals((await readBatches(service, `since=${time}`)).flat(), expected, time);
      const { text } = await openStream(service, `since=${time}`);
      assertEquals(eventsOf(text), expected);
    }
  }
  // A stream that resumes continues from its last event.
  const resumed = await openStream(service, "since=2000-01-01T00:00:00Z", {
    "last-event-id": all[6].id,
  });
  assertEquals(eventsOf(resumed.text), all.slice(7));
  let response: Response | undefined;
  ask(service, "since=2100-01-01T00:00:00Z&timeout=5000").then((it) => response = it);
  await service.add(REX);
  await service.runtime.advance(1_000);
  assertEquals((await response!.json()).length, 1);
});

Deno.test("A filtered stream passes the lines that do not match", async () => {
  await using service = await openTestService();
  await addHistory(service);
  const [all] = await readBatches(service, "");
  const start = "retry: 1000\nid: 0000000000000000-0000000000000000\n\n";
  const message = `id: ${all[4].id}\nevent: PetUpdated\ndata: ${JSON.stringify(all[4])}\n\n`;
  const { text } = await openStream(service, "status=available&type=PetUpdated");
  assertEquals(text, `${start}${message}id: ${all.at(-1)!.id}\n\n`);
});

Deno.test("a batch ends at a megabyte, and its Link header leads to the rest", async () => {
  await using service = await openTestService();
  const name = "\u0001".repeat(1_000);
  const note = "\u0001".repeat(2_000);
  for (let count = 0; count < 60; count++) await service.add({ ...REX, name, note });
  const batches = await readBatches(service, "limit=100");
  assertEquals(batches.map(({ length }) => length), [58, 2, 0]);
});

Deno.test("listEvents waits for an event of any instance, and at its timeout returns an empty batch", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  const other = otherInstance(service);
  await addHistory(service);
  const cases: [from: Pick<Service & TestService, "add">, atMostMs: number][] = [
    [service, 50],
    [other, ELSEWHERE_MS],
  ];
  for (const [from, atMostMs] of cases) {
    let body: string | undefined;
    const waiting = ask(service, "lastEventId=now&timeout=30000");
    waiting.then(async (response) => body = await response.text());
    await runtime.advance(10_000);
    assertEquals(body, undefined);
    await runtime.settle(from.add(REX));
    await runtime.advance(atMostMs);
    assertEquals(JSON.parse(body!).length, 1);
  }
  let response: Response | undefined;
  ask(service, "lastEventId=now&timeout=30000&type=PetUpdated").then((it) => response = it);
  await runtime.advance(1_000);
  await service.add(REX);
  await runtime.advance(28_000);
  assertEquals(response, undefined);
  await runtime.advance(1_000);
  assertEquals(await response!.text(), "[]");
  const { id } = (await (await ask(service, "")).json()).at(-1);
  assert(response!.headers.get("link")!.includes(id), "The position passes what did not match");
  await runtime.advance(ELSEWHERE_MS);
  assertEquals(runtime.waits(), [], "Nobody looks at the store while nobody follows");
});

Deno.test("A wait that begins while its instance appends an event has the event soon", async () => {
  await using service = await openTestService();
  const { runtime, faults } = service;
  // Its look at the head shows the event before the wait has begun.
  await openStream(service, "lastEventId=now");
  await runtime.advance(100);
  const { fault, reached, release } = hold("after");
  const { onGet } = faults;
  faults.onGet = (apply) => {
    faults.onGet = onGet;
    return fault(apply);
  };
  let body = "[]";
  ask(service, "lastEventId=now&timeout=30000").then(async (it) => body = await it.text());
  await runtime.settle(reached);
  await runtime.settle(service.add(REX));
  await runtime.advance(100);
  release();
  await runtime.advance(50);
  assertEquals(JSON.parse(body).length, 1);
});

Deno.test("A stream sends each event soon, a comment after silence, and ends after some minutes", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  const stream = await openStream(service, "lastEventId=now");
  const fromBeginning = await openStream(service);
  await service.add(REX);
  await runtime.advance(50);
  for (const { text } of [stream, fromBeginning]) assertEquals(eventsOf(text).length, 1);
  fromBeginning.cancel();
  stream.text = "";
  await runtime.advance(HEARTBEAT_MS + ELSEWHERE_MS);
  assertEquals(stream.text, ":\n\n");
  await otherInstance(service).add(REX);
  await runtime.advance(ELSEWHERE_MS);
  assertEquals(eventsOf(stream.text).map(({ subject }) => subject), ["pets/2"]);
  assertEquals(stream.isOver, false);
  await runtime.advance(1.5 * STREAM_MS);
  assertEquals([stream.isOver, runtime.waits()], [true, []]);
});

Deno.test("A stream ends after 4 to 6 minutes, and sends a comment after 15 seconds of silence", async () => {
  for (const [random, minutes] of [[0, 4], [1, 6]]) {
    await using service = await openTestService();
    const { runtime } = service;
    runtime.random = () => random;
    const stream = await openStream(service, "lastEventId=now");
    stream.text = "";
    await runtime.advance(14_000);
    assertEquals(stream.text, "");
    await runtime.advance(2_000);
    assertEquals(stream.text, ":\n\n");
    await runtime.advance(minutes * 60_000 - 17_000);
    assertEquals(stream.isOver, false);
    await runtime.advance(2_000);
    assertEquals(stream.isOver, true);
  }
});

Deno.test("A client gets a stream if its Accept names the type of streams and none of JSON; HEAD opens none", async () => {
  await using service = await openTestService();
  const cases: [accept: string, isStream: boolean][] = [
    ["text/event-stream", true],
    ["Text/Event-Stream;q=0.9, */*;q=0.1", true],
    ["text/event-stream;q=0", false],
    ["*/*", false],
    // A generated client names all types of the description, and reads batches.
    ["application/cloudevents-batch+json, text/event-stream, application/json", false],
    ["text/event-stream, application/json", false],
  ];
  // The issue of the key checks its deadline once more.
  await service.runtime.advance(50);
  for (const [accept, isStream] of cases) {
    const { status, headers, body } = await ask(service, "", { accept }, { method: "HEAD" });
    assertEquals([status, headers.get("content-type") === "text/event-stream"], [200, isStream]);
    assertEquals(body === null, isStream, accept);
    const ofProxies = [headers.get("cache-control"), headers.get("x-accel-buffering")];
    assertEquals(ofProxies, ["no-store", isStream ? "no" : null]);
    assertEquals(headers.get("vary"), isStream ? "accept" : "accept, accept-encoding");
  }
  assertEquals(service.runtime.waits(), []);
});

Deno.test("A key that is revoked or expires ends its streams and waits within a second, on every instance", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  const other = { ...service, ...otherInstance(service), runtime };
  const ways: [how: string, end: (keyId: string) => Promise<unknown>][] = [
    ["is revoked", (keyId) => revokeApiKey(other, keyId)],
    ["expires", () => runtime.advance(60_000 - ELSEWHERE_MS)],
  ];
  for (const [how, end] of ways) {
    const expiresAt = runtime.now() + 60_000;
    const { id, token } = await issueApiKey(service, { label: how, expiresAt });
    const followed = [];
    for (const instance of [service, other]) {
      const polled = ask({ ...instance, token }, "lastEventId=now&timeout=30000")
        .then(({ status }) => status);
      followed.push({ polled, stream: await openStream({ ...instance, token }) });
    }
    const stays = await openStream(service);
    await end(id);
    await runtime.advance(1_000);
    for (const { polled, stream } of followed) {
      assertEquals([await polled, stream.isOver], [how === "expires" ? 200 : 401, true], how);
    }
    assertEquals(stays.isOver, false);
    stays.cancel();
    assertEquals((await ask({ ...service, token }, "")).status, 401);
  }
});

Deno.test("A key has at most 100 streams and waits, an instance 2,000; those that end make room", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  const streams = [];
  const tokens = [service.token];
  while (tokens.length <= FOLLOWERS_LIMIT / FOLLOWERS_OF_KEY_LIMIT) {
    tokens.push((await issueApiKey(service, { label: "more" })).token);
  }
  const statusOf = async (token: string, query = "timeout=1&lastEventId=now") => {
    const response = await runtime.settle(ask({ ...service, token }, query));
    return [response.status, (await response.json()).code];
  };
  for (const token of tokens.slice(0, -1)) {
    for (let count = 0; count < FOLLOWERS_OF_KEY_LIMIT; count++) {
      streams.push(await ask({ ...service, token }, "", { accept: "text/event-stream" }));
    }
    if (token !== tokens.at(-2)) assertEquals(await statusOf(token), [429, "rate_limited"]);
  }
  assertEquals(await statusOf(tokens.at(-1)!), [503, "overloaded"]);
  assertEquals(await statusOf(tokens.at(-1)!, ""), [200, undefined]);
  await streams[0].body!.cancel();
  assertEquals(await statusOf(tokens.at(-1)!), [200, undefined]);
});

for (const accept of ["application/json", "text/event-stream"]) {
  Deno.test(`A client that goes away before its request follows keeps no place (${accept})`, async () => {
    await using service = await openTestService();
    const { runtime } = service;
    const timeout = "lastEventId=now&timeout=30000";
    const follow = (signal: AbortSignal) => ask(service, timeout, { accept }, { signal });
    const gone = AbortSignal.abort();
    for (let count = 0; count < FOLLOWERS_OF_KEY_LIMIT; count++) await follow(gone);
    const client = new AbortController();
    const { fault, reached, release } = hold();
    service.faults.onGet = fault;
    // All of them wait for one read of the head.
    const followed = Array.from({ length: FOLLOWERS_OF_KEY_LIMIT }, () => follow(client.signal));
    await reached;
    client.abort();
    release();
    await Promise.all(followed);
    const next = await runtime.settle(ask(service, "lastEventId=now&timeout=1"));
    assertEquals(next.status, 200);
  });
}

Deno.test("A shutdown ends streams and waits, and refuses others", async () => {
  await using service = await openTestService();
  const stream = await openStream(service);
  const waiting = ask(service, "lastEventId=now&timeout=30000");
  await service.runtime.advance(1_000);
  service.endWaiting();
  await service.runtime.advance(0);
  assertEquals([stream.isOver, await (await waiting).text()], [true, "[]"]);
  assertEquals((await ask(service, "lastEventId=now&timeout=30000")).status, 503);
});

Deno.test("A key whose record is damaged holds up nobody else", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  const damaged = await issueApiKey(service, { label: "damaged" });
  const hash = sha256Hex(damaged.token);
  const waiting = ask({ ...service, token: damaged.token }, "lastEventId=now&timeout=30000");
  const stream = await openStream(service, "lastEventId=now");
  service.faults.onSnapshot = async (apply, keys) => {
    const { entries, lists } = await apply();
    if (!keys.some((key) => key.includes(hash))) return { entries, lists };
    const damage = (entry: StoreEntry | null) => entry && { ...entry, value: Uint8Array.of(1) };
    return { entries: entries.map(damage), lists };
  };
  await issueApiKey(service, { label: "a key event" });
  await service.add(REX);
  await runtime.advance(ELSEWHERE_MS);
  assertEquals([eventsOf(stream.text).length, (await waiting).status], [1, 500]);
});

Deno.test("A client that reads slowly misses nothing, and finds the end of its stream when it reads", async () => {
  await using service = await openTestService();
  const name = "x".repeat(1_000);
  for (let count = 0; count < 300; count++) await service.add({ ...REX, name });
  const open = () => ask(service, "", { accept: "text/event-stream" });
  const [slow, stalled] = [(await open()).body!.getReader(), (await open()).body!.getReader()];
  let text = "";
  let parts = 0;
  while (eventsOf(text).length < 300) {
    const { value } = await slow.read();
    assert(value!.length < 80_000, "Only some events are held for a client");
    text += new TextDecoder().decode(value);
    parts++;
  }
  assert(parts > 5);
  assertEquals(eventsOf(text).map(({ subject }) => subject), [
    ...Array.from({ length: 300 }, (_, index) => `pets/${index + 1}`),
  ]);
  await stalled.read();
  service.endWaiting();
  await service.runtime.advance(1_000);
  assertEquals((await stalled.read()).done, true);
  assertEquals(service.reports, []);
});

Deno.test("A defect in a stream is logged once, with the id of its request, and ends it", async () => {
  await using service = await openTestService();
  const stream = await openStream(service, "lastEventId=now");
  const { onList } = service.faults;
  await service.add(REX);
  service.faults.onList = (apply, range) =>
    "start" in range
      ? Promise.resolve([{ key: null }] as never)
      : onList(apply, range, { limit: 1 });
  await service.runtime.advance(ELSEWHERE_MS);
  const reason = "Cannot read properties of null (reading '1')";
  const { requestId } = stream;
  assertEquals(service.reports, [["error", "stream_failed", { requestId, reason }]]);
  assertEquals(stream.isOver, true);
});

Deno.test("A stream waits while the store is away", async () => {
  await using service = await openTestService();
  const stream = await openStream(service);
  const away = () => Promise.reject(new StoreAwayError("gone"));
  Object.assign(service.faults, { onGet: away, onList: away });
  stream.text = "";
  await service.runtime.advance(3 * HEARTBEAT_MS);
  assertEquals(stream.text.match(/^:$/gm)?.length, 2, "The connection is kept");
  const there = (apply: () => Promise<unknown>) => apply();
  Object.assign(service.faults, { onGet: there, onList: there });
  await service.runtime.advance(5_000);
  await service.runtime.settle(service.add(REX));
  await service.runtime.advance(ELSEWHERE_MS);
  assertEquals([eventsOf(stream.text).length, stream.isOver], [1, false]);
});
