/** The operation `listEvents`: events of animals and categories as a batch, or as a stream (https://html.spec.whatwg.org/#server-sent-events). */

import { type Runtime, serviceErrorCode } from "eventstore-less";
import {
  type BackgroundWork,
  EMPTY_HEAD,
  EventCursor,
  type EventFeed,
  type EventFilter,
  type EventPart,
  FEED_ID_PATTERN,
  type FeedEvent,
  feedPositionOf,
  followedParts,
  type Follower,
  type Followers,
  type HeadEntry,
  jsonOf,
  messageOf,
  NO_LINES,
  type Place,
  withExtensions,
} from "eventstore-less/parts";
import { reasonOf } from "eventstore-less/startup";
import { StoreError } from "eventstore-less/store";
import { Buffer } from "node:buffer";
import { z } from "zod";
import { CATEGORY_EVENT_TYPES } from "../../events/category.ts";
import { PET_EVENT_TYPES } from "../../events/pet_event.ts";
import type { Logger } from "../runtime/logger.ts";
import type { RequestHeaders, ServiceRequest } from "../runtime/service_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { arrayOf, type Component, content, schemaComponent } from "../api/component.ts";
import { compressed } from "../api/compression.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { EVENTS_TAG, EXAMPLE_EVENT_ID } from "../api/described_event.ts";
import { actorAttributes } from "../api/event_actor.ts";
import type { ApiKeyLabels, ApiKeyReader } from "../keys/api_key_reader.ts";
import { linkPattern, NO_STORE, sometimes } from "../api/described_headers.ts";
import { codeOf } from "../api/errors.ts";
import type { Operation } from "../api/operation.ts";
import { queryParameters } from "../api/requests/query.ts";
import { EXAMPLE_PET_EVENT, PET_EVENT } from "../animals/described_pets.ts";
import { CATEGORY_EVENT } from "../categories/described_categories.ts";
import { EVENT_BATCH_HEADERS, type HttpResponse, NEVER_STORED } from "../api/http_response.ts";
import type { ApiRequest } from "../api/api_request.ts";
import {
  EVENTS_LIMIT_MAX,
  EVENTS_PARAMETERS,
  type EventsQuery,
  linesFromEnd,
  parseEventsQuery,
  queryAfter,
} from "./events_query.ts";

/** A batch ends after so many lines: with a filter, it may find nothing among them. */
const SCAN_LIMIT = 2_000;

/** A batch ends after so many bytes. Slow readers hold them. */
const BATCH_BYTES = 1024 * 1024;

/** A write to a stream ends after so many bytes. Slow readers hold them. */
const WRITE_LIMITS = { events: Infinity, bytes: 64 * 1024 };

/** After this time without a message, in milliseconds, a stream sends a comment, so that no proxy takes it for dead. */
export const HEARTBEAT_MS = 15_000;

/** A stream ends after this time, and up to half as much again. So clients spread over the instances. */
export const STREAM_MS = 240_000;

/** How long a client should wait before it resumes a stream, in milliseconds. */
const RETRY_MS = 1_000;

const STREAM_TYPE = "text/event-stream";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const HEARTBEAT = encoder.encode(":\n\n");
const [OPENING, COMMA, CLOSING] = ["[", ",", "]"].map((text) => encoder.encode(text));

export interface EventsDeps {
  apiKeys: ApiKeyReader;
  background: BackgroundWork;
  feed: EventFeed;
  followers: Followers;
  report: Logger;
  runtime: Runtime;
}

const LAST_EVENT_ID = {
  name: "Last-Event-ID",
  in: "header",
  description: "Replaces `lastEventId`; clients of streams send it when they resume",
  schema: {
    type: "string",
    pattern: `^(${FEED_ID_PATTERN.source.slice(1, -1)})?$`,
    maxLength: 33,
  },
} as const;

const LINK = sometimes(
  "Link.events",
  "The address of the next request (RFC 8288); absent on a stream",
  linkPattern("/events\\?lastEventId=[^<>]+"),
  `<${EXAMPLE_BASE}/events?lastEventId=${EXAMPLE_EVENT_ID}&limit=100&timeout=0>; rel="next"`,
);

/** The schema of the events of each collection, by their types. */
const EVENT_BY_TYPE = new Map<string, Component>([
  ...PET_EVENT_TYPES.map((type): [string, Component] => [type, PET_EVENT]),
  ...CATEGORY_EVENT_TYPES.map((type): [string, Component] => [type, CATEGORY_EVENT]),
]);

/** An event of the feed. Without the discriminator, generated clients take the first schema whose members it has. */
const EVENT = schemaComponent(
  "Event",
  z.discriminatedUnion(
    "type",
    [PET_EVENT.value, CATEGORY_EVENT.value] as [z.ZodObject, z.ZodObject],
  )
    .meta({
      discriminator: {
        propertyName: "type",
        mapping: Object.fromEntries(
          [...EVENT_BY_TYPE].map(([type, schema]) => [type, schema.toJSON().$ref]),
        ),
      },
    }),
);

const EXAMPLE_MESSAGE = `id: ${EXAMPLE_EVENT_ID}\nevent: ${EXAMPLE_PET_EVENT.type}\n` +
  `data: ${JSON.stringify(EXAMPLE_PET_EVENT)}\n\n`;

export const listEvents: Operation<EventsDeps> = {
  id: "listEvents",
  method: "GET",
  path: "/events",
  tag: EVENTS_TAG,
  summary: "List events",
  description:
    "Lists additions, changes, removals and restores of animals, and those of the names of categories, oldest first: as a batch, or with " +
    `\`Accept: ${STREAM_TYPE}\` as a stream, which stays open. See the guides "Follow the store" and "Follow by a stream".`,
  parameters: [...queryParameters(EVENTS_PARAMETERS), LAST_EVENT_ID],
  responses: {
    200: {
      description:
        "A batch of events, empty if there are none, whose `Link` header names the next request; or a stream",
      headers: [LINK, NO_STORE],
      content: {
        ...content(
          arrayOf(EVENT, EVENTS_LIMIT_MAX),
          [EXAMPLE_PET_EVENT],
          [EVENT_BATCH_HEADERS["content-type"]],
        ),
        ...content({ type: "string" }, EXAMPLE_MESSAGE, [STREAM_TYPE]),
      },
    },
  },
  errors: [...ERRORS_OF_ALL, "feed_reset", "overloaded"],
  sample: { kind: "stream" },
  kind: "wait",
  prepare,
};

/** A valid request, as it was admitted. */
interface EventsRequest {
  query: EventsQuery;
  /** The head at which the request was admitted. */
  entry: HeadEntry;
  /** The last line that the client knows. */
  place: Place;
  /** Its signal aborts when the client goes away. */
  client: ServiceRequest;
  requestId: string;
  token: string;
}

/** Whether a client names the type of streams, and no JSON: generated clients name both, and read a batch. */
function wantsStream(headers: RequestHeaders): boolean {
  const ranges = (headers.get("accept") ?? "").toLowerCase().split(",")
    .map((range) => range.split(";").map((part) => part.trim()));
  const isNamed = ranges.some(([type, ...parameters]) =>
    type === STREAM_TYPE && !parameters.some((it) => /^q=0(\.0*)?$/.test(it))
  );
  return isNamed && !ranges.some(([type]) => type.includes("json"));
}

/**
 * Resolves to the function that carries out a valid request, which may take long. Rejects with `invalid_parameter`,
 * `malformed_request`, and `feed_reset` if the log has no line with the id of the request.
 */
async function prepare(
  deps: EventsDeps,
  { request: client, requestId, baseUrl }: ApiRequest,
  entry: HeadEntry,
  token: string,
): Promise<() => Promise<HttpResponse>> {
  const { feed } = deps;
  const { headers, search } = client;
  const query = parseEventsQuery(search, headers);
  const place = await placeOf(query, feed, entry);
  // If this fails, the response is an error, also in place of a stream.
  await feed.expectPlace(place, entry);
  const request = { query, entry, place, client, requestId, token };
  return wantsStream(headers)
    ? () => Promise.resolve(streamEvents(deps, request))
    : () => respondWithBatch(deps, request, baseUrl);
}

/** The place from which a request reads. */
function placeOf({ lastEventId: id, since }: EventsQuery, feed: EventFeed, entry: HeadEntry) {
  if (since !== undefined) return feed.placeBefore(since, entry);
  if (id === undefined) return feedPositionOf(EMPTY_HEAD);
  const lineCount = linesFromEnd(id);
  if (lineCount !== undefined) return feed.placeFromEnd(lineCount, entry);
  return { position: parseInt(id), id };
}

function filterOf({ type, status }: EventsQuery): EventFilter {
  return { type, values: status === undefined ? [] : [["status", status]] };
}

/** Resolves to a batch: at once if there are events, and otherwise after the wait of the query. */
async function respondWithBatch(deps: EventsDeps, request: EventsRequest, baseUrl: string) {
  const { query, entry, place, client } = request;
  const actors = new Actors(deps, request);
  const cursor = new EventCursor(deps.feed, place, filterOf(query), actors.encoder(jsonOf));
  const batch = new Batch(query.limit);
  while (!batch.isFull && cursor.isBehind(entry)) {
    await actors.update(entry);
    const part = await cursor.read(entry, batch.room);
    batch.add(part);
  }
  const hasToWait = !batch.isFull && batch.isEmpty && query.timeout > 0;
  if (hasToWait) await awaitEvents(deps, request, cursor, actors, batch);
  const response = {
    status: 200,
    body: batch.toJson(),
    headers: {
      ...NEVER_STORED,
      vary: "accept, accept-encoding",
      link: `<${baseUrl}/events?${queryAfter(cursor.place.id, query)}>; rel="next"`,
    },
    contentHeaders: EVENT_BATCH_HEADERS,
  };
  return await compressed(response, client.headers, () => deps.background.turn("events"));
}

/** Waits until there are events for a batch, or the time of the query is over. */
async function awaitEvents(
  { followers }: EventsDeps,
  { query, entry, client: { signal }, token }: EventsRequest,
  cursor: EventCursor,
  actors: Actors,
  batch: Batch,
): Promise<void> {
  const follower = followers.follow({
    token,
    entry,
    client: signal,
    limitMs: query.timeout,
    isWokenBy: (look) => cursor.isBehind(look),
  });
  const read = async (from: EventCursor) => {
    await actors.update(follower.entry);
    return await from.read(follower.entry, batch.room);
  };
  try {
    for await (const part of followedParts(cursor, follower, read)) {
      batch.add(part);
      const hasAll = !batch.isEmpty && !cursor.isBehind(follower.entry);
      if (batch.isFull || hasAll) break;
    }
  } finally {
    follower.end();
  }
  const { endReason } = follower;
  // At a shutdown, an empty batch is a true response.
  const isShutdown = serviceErrorCode(endReason) === "shutting_down";
  if (endReason !== undefined && !isShutdown) throw endReason;
}

/** Adds the actors to the events of a request that asks for them. */
class Actors {
  readonly #apiKeys: ApiKeyReader;
  readonly #runtime: Runtime;
  readonly #request: EventsRequest;
  #labels: ApiKeyLabels | undefined;

  constructor({ apiKeys, runtime }: EventsDeps, request: EventsRequest) {
    this.#apiKeys = apiKeys;
    this.#runtime = runtime;
    this.#request = request;
  }

  /** Learns the labels of the keys that were issued up to a head. */
  async update({ head }: HeadEntry): Promise<void> {
    if (!this.#isWanted) return;
    const apiKey = await this.#apiKeys.authorize(this.#request.token, head, this.#runtime.now());
    this.#labels = await this.#apiKeys.labelsFor(apiKey, head);
  }

  encoder(textOf: (event: FeedEvent) => Uint8Array): (event: FeedEvent) => Uint8Array {
    if (!this.#isWanted) return textOf;
    return (event) => {
      const text = decoder.decode(textOf(event));
      return encoder.encode(withExtensions(text, actorAttributes(event.actor, this.#labels)));
    };
  }

  get #isWanted(): boolean {
    return this.#request.query.actors !== undefined;
  }
}

/** The events of one response. */
class Batch {
  #limit: number;
  #texts: Uint8Array[] = [];
  #bytes = 0;
  #lineCount = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The remaining room of the batch. */
  get room(): { events: number; bytes: number } {
    return { events: this.#limit - this.#texts.length, bytes: BATCH_BYTES - this.#bytes };
  }

  get isEmpty(): boolean {
    return this.#texts.length === 0;
  }

  get isFull(): boolean {
    const { events, bytes } = this.room;
    return events <= 0 || bytes <= 0 || this.#lineCount >= SCAN_LIMIT;
  }

  add({ texts, bytes, lineCount }: EventPart): void {
    this.#texts.push(...texts);
    this.#bytes += bytes;
    this.#lineCount += lineCount;
  }

  toJson(): Uint8Array {
    const separated = this.#texts.flatMap((text, index) => index === 0 ? [text] : [COMMA, text]);
    return Buffer.concat([OPENING, ...separated, CLOSING]);
  }
}

function streamEvents(deps: EventsDeps, request: EventsRequest): HttpResponse {
  return {
    status: 200,
    body: request.client.method === "HEAD" ? null : eventStream(deps, request),
    headers: {
      ...NEVER_STORED,
      vary: "accept",
      "x-accel-buffering": "no",
      // Also on HEAD, whose response has no body.
      "content-type": STREAM_TYPE,
    },
    contentHeaders: {},
  };
}

/** A stream of events. Its client pulls: the log keeps what the client has not read yet. */
function eventStream(deps: EventsDeps, request: EventsRequest): ReadableStream<Uint8Array> {
  const { followers, report, runtime } = deps;
  const { query, entry, place, client, requestId, token } = request;
  const actors = new Actors(deps, request);
  const cursor = new EventCursor(deps.feed, place, filterOf(query), actors.encoder(messageOf));
  let sentAt = runtime.monotonicNow();
  const isQuiet = () => runtime.monotonicNow() - sentAt >= HEARTBEAT_MS;
  const follower = followers.follow({
    token,
    entry,
    client: client.signal,
    limitMs: STREAM_MS * (1 + runtime.random() / 2),
    isWokenBy: (look) => cursor.isBehind(look) || isQuiet(),
  });
  const read = (from: EventCursor) => readIfThere(from, follower, actors);
  const parts = followedParts(cursor, follower, read);
  /** Resolves to what to send next, or to `undefined` at the end. */
  const nextWrite = async () => {
    for (;;) {
      const { value: part, done } = await parts.next();
      // The client may have gone away during the read, or its key may not be valid any more.
      if (done || follower.isEnded) return undefined;
      if (part.lineCount > 0) return writeOf(part);
      if (isQuiet()) return HEARTBEAT;
    }
  };
  const reportDefect = (error: unknown) => {
    // The next request of the client gets any other error.
    if (error === undefined || codeOf(error) !== "internal_error") return;
    report("error", "stream_failed", { requestId, reason: reasonOf(error) });
  };
  return new ReadableStream({
    start(controller) {
      // A client that loses the connection before the first event continues from here, too.
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\nid: ${place.id}\n\n`));
    },
    async pull(controller) {
      const write = await nextWrite().catch((error) => {
        follower.end();
        reportDefect(error);
      });
      if (write === undefined) {
        reportDefect(follower.endReason);
        return controller.close();
      }
      sentAt = runtime.monotonicNow();
      controller.enqueue(write);
    },
    cancel() {
      follower.end();
      reportDefect(follower.endReason);
    },
  }, { highWaterMark: 0 });
}

/** Resolves to a part without lines if the store is away, until another look. */
async function readIfThere(
  cursor: EventCursor,
  follower: Follower,
  actors: Actors,
): Promise<EventPart> {
  try {
    await actors.update(follower.entry);
    return await cursor.read(follower.entry, WRITE_LIMITS);
  } catch (error) {
    if (error instanceof StoreError) return NO_LINES;
    throw error;
  }
}

/** The messages of a part that has lines. */
function writeOf({ texts, passedId }: EventPart): Uint8Array {
  if (passedId === undefined) return Buffer.concat(texts);
  // Without data, this only tells the client from where to resume.
  const position = encoder.encode(`id: ${passedId}\n\n`);
  return Buffer.concat([...texts, position]);
}
