/** The operation `listEvents`: events of pets as a batch, or as a stream (https://html.spec.whatwg.org/#server-sent-events). */

import { Buffer } from "node:buffer";
import { EMPTY_HEAD, type HeadEntry } from "../log/head.ts";
import type { BackgroundWork } from "../feed/background_work.ts";
import {
  type EventFeed,
  type FeedEvent,
  type FeedLine,
  feedPositionOf,
  jsonOf,
  messageOf,
  type Place,
} from "../feed/event_feed.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { serviceErrorCode } from "../service_error.ts";
import { StoreError } from "../store/store_errors.ts";
import { compressed } from "./compression.ts";
import { codeOf } from "./errors.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import type { ApiRequest } from "./pets.ts";
import { Alarm, type Follower, type Followers } from "../feed/followers.ts";
import { type EventsQuery, NOW, parseEventsQuery, queryAfter } from "./requests/query.ts";

/** Maximum number of lines that one request looks at: with a filter, it may find nothing among them. */
const SCAN_LIMIT = 2_000;

/** A batch, and a write to a stream, end after so many bytes: slow readers hold them. */
const BATCH_BYTES = 1024 * 1024;
const WRITE_BYTES = 64 * 1024;

/** After this time without a message, a stream has a comment, so that nobody on the way takes it for dead. */
export const HEARTBEAT_MS = 15_000;

/** A stream ends after this time, and up to half as much again. So clients spread over the instances anew. */
export const STREAM_MS = 240_000;

/** How long a client should wait before it resumes a stream, in milliseconds. */
const RETRY_MS = 1_000;

export const BATCH_TYPE = "application/cloudevents-batch+json";
export const STREAM_TYPE = "text/event-stream";

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");
const [OPENING, COMMA, CLOSING] = ["[", ",", "]"].map((text) => encoder.encode(text));

export interface EventsDeps {
  background: BackgroundWork;
  feed: EventFeed;
  followers: Followers;
  report: Logger;
  runtime: Runtime;
}

interface EventsRequest {
  query: EventsQuery;
  /** The head at which the request was admitted. */
  entry: HeadEntry;
  /** The last line that the client knows, or has passed. */
  place: Place;
  /** Its signal aborts when the client goes away. */
  client: Request;
  requestId: string;
  token: string;
}

/** Whether a client names the type of streams, and no JSON: generated clients name both, and read a batch. */
function wantsStream(headers: Headers): boolean {
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
export async function prepareListEvents(
  deps: EventsDeps,
  { request: client, requestId, search, baseUrl }: ApiRequest,
  entry: HeadEntry,
  token: string,
): Promise<() => Promise<HttpResponse>> {
  const { feed } = deps;
  const { headers } = client;
  const query = parseEventsQuery(search, headers);
  const place = await placeOf(query, feed, entry);
  // An error must be the response, also of a stream.
  await feed.expectPlace(place, entry);
  const request = { query, entry, place, client, requestId, token };
  return wantsStream(headers)
    ? () => Promise.resolve(streamEvents(deps, request))
    : () => listEvents(deps, request, baseUrl);
}

/** The place from which a request reads. */
function placeOf({ lastEventId: id, since }: EventsQuery, feed: EventFeed, entry: HeadEntry) {
  if (since !== undefined) return feed.placeBefore(since, entry);
  if (id === undefined || id === NOW) return feedPositionOf(id === NOW ? entry.head : EMPTY_HEAD);
  return { position: parseInt(id), id };
}

/** Resolves to a batch: at once if there are events, and otherwise after the wait of the query. */
async function listEvents(deps: EventsDeps, request: EventsRequest, baseUrl: string) {
  const { query, client } = request;
  const start = request.place.position;
  const events: Uint8Array[] = [];
  let bytes = 0;
  /** Reads the next lines into the batch, and returns whether the batch is complete. */
  const isComplete = async () => {
    while (isBehind(request)) {
      for (const line of await deps.feed.linesAfter(request.place, request.entry)) {
        request.place = line;
        if (!isWanted(line, query)) continue;
        const json = jsonOf(line.event);
        events.push(json);
        bytes += json.length;
        if (events.length === query.limit || bytes >= BATCH_BYTES) return true;
      }
      if (request.place.position - start >= SCAN_LIMIT) return true;
    }
    return events.length > 0;
  };
  if (!await isComplete() && query.timeout > 0) {
    const waiter = new Waiter(deps, request, query.timeout);
    try {
      do {
        await waiter.wait();
      } while (!waiter.isEnded && !await isComplete());
      // At a shutdown, an empty batch is a true response.
      const { error } = waiter;
      if (error !== undefined && serviceErrorCode(error) !== "shutting_down") throw error;
    } finally {
      waiter.end();
    }
  }
  const response = {
    status: 200,
    body: jsonArrayOf(events),
    headers: {
      ...NEVER_STORED,
      vary: "accept, accept-encoding",
      link: `<${baseUrl}/events?${queryAfter(request.place.id, query)}>; rel="next"`,
    },
    contentHeaders: { "content-type": BATCH_TYPE },
  };
  return await compressed(response, client.headers, () => deps.background.turn("events"));
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
  const { report, runtime } = deps;
  const lengthMs = STREAM_MS * (1 + runtime.random() / 2);
  let sentAt = runtime.monotonicNow();
  const isQuiet = () => runtime.monotonicNow() - sentAt >= HEARTBEAT_MS;
  const waiter = new Waiter(deps, request, lengthMs, isQuiet, (error) => {
    // The next request of the client gets any other error.
    if (error === undefined || codeOf(error) !== "internal_error") return;
    report("error", "stream_failed", { requestId: request.requestId, reason: reasonOf(error) });
  });
  return new ReadableStream({
    start(controller) {
      // A client that loses the connection before the first event continues from here, too.
      controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\nid: ${request.place.id}\n\n`));
    },
    async pull(controller) {
      try {
        while (!waiter.isEnded) {
          const bytes = await readMessages(deps, request) ?? (isQuiet() ? HEARTBEAT : undefined);
          // The client may have gone away meanwhile.
          if (waiter.isEnded) break;
          if (bytes !== undefined) {
            sentAt = runtime.monotonicNow();
            return controller.enqueue(bytes);
          }
          await waiter.wait();
        }
      } catch (error) {
        waiter.end(error);
      }
      controller.close();
    },
    cancel: () => waiter.end(),
  }, { highWaterMark: 0 });
}

/** Resolves to the next messages; `undefined` if there are none, or the store is away until another look. */
async function readMessages({ feed }: EventsDeps, request: EventsRequest) {
  const { place, entry, query } = request;
  if (!isBehind(request)) return undefined;
  const lines = await feed.linesAfter(place, entry).catch((error) => {
    if (!(error instanceof StoreError)) throw error;
  });
  if (lines === undefined) return undefined;
  const messages: Uint8Array[] = [];
  let bytes = 0;
  for (const line of lines) {
    request.place = line;
    if (!isWanted(line, query)) continue;
    const message = messageOf(line.event);
    messages.push(message);
    bytes += message.length;
    if (bytes >= WRITE_BYTES) break;
  }
  const last = request.place;
  // Without data, this only tells the client from where to resume.
  if (!isWanted(last, query)) messages.push(encoder.encode(`id: ${last.id}\n\n`));
  return Buffer.concat(messages);
}

/** An alarm for lines after the place of a request, for a limited time and while its client is there. */
class Waiter extends Alarm implements Follower {
  isEnded = false;
  error: unknown;
  #request: EventsRequest;
  #isQuiet: () => boolean;
  #leave: (error: unknown) => void = () => {};

  /** It also wakes up while `isQuiet` says so. */
  constructor(
    { followers, runtime }: EventsDeps,
    request: EventsRequest,
    limitMs: number,
    isQuiet = () => false,
    onEnd = (_error: unknown) => {},
  ) {
    super();
    this.#request = request;
    this.#isQuiet = isQuiet;
    const { signal } = request.client;
    // The client may have gone away while the key or the log was read. Such a signal calls no listener any more.
    if (signal.aborted) {
      this.end();
      return;
    }
    followers.add(request.token, this, request.entry);
    const cancelTimer = runtime.setTimer(limitMs, () => this.end());
    const onAbort = () => this.end();
    signal.addEventListener("abort", onAbort);
    this.#leave = (error) => {
      cancelTimer();
      signal.removeEventListener("abort", onAbort);
      followers.remove(request.token, this);
      onEnd(error);
    };
  }

  onLook(look: HeadEntry | undefined): void {
    const entry = look ?? this.#request.entry;
    this.#request.entry = entry;
    // Also rings again after a read that failed.
    if (isBehind(this.#request) || this.#isQuiet()) this.ring();
  }

  end(error?: unknown): void {
    this.isEnded = true;
    this.error = error;
    this.#leave(error);
    this.ring();
  }
}

function isBehind({ place, entry }: EventsRequest): boolean {
  return place.position < entry.head.position;
}

type EventLine = FeedLine & { event: FeedEvent };

function isWanted(line: FeedLine, { type, status }: EventsQuery): line is EventLine {
  const { event } = line;
  return event !== undefined && (type === undefined || event.type === type) &&
    (status === undefined || event.statuses.includes(status));
}

function jsonArrayOf(elements: Uint8Array[]): Uint8Array {
  const separated = elements.flatMap((element, index) =>
    index === 0 ? [element] : [COMMA, element]
  );
  return Buffer.concat([OPENING, ...separated, CLOSING]);
}
