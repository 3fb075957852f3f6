/** The operation `listEvents`: events of pets as a batch, or as a stream (https://html.spec.whatwg.org/#server-sent-events). */

import { Buffer } from "node:buffer";
import { EMPTY_HEAD, type HeadEntry } from "../log/head.ts";
import type { EventFeed, FeedEvent, FeedLine, Place } from "../feed/event_feed.ts";
import { Alarm } from "../feed/alarm.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { serviceErrorCode } from "../service_error.ts";
import { StoreError } from "../store/store_errors.ts";
import { codeOf } from "./errors.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import type { ApiRequest } from "./pets.ts";
import type { Follower, Followers } from "../feed/followers.ts";
import { type EventsQuery, NOW, parseEventsQuery, queryAfter } from "./requests/query.ts";

/** Maximum number of lines that one request looks at: with a filter, it may find nothing among them. */
const SCAN_LIMIT = 2_000;

/** A batch ends after so many UTF-16 code units, and a write to a stream after so many bytes: slow readers hold them. */
const BATCH_LENGTH = 1024 * 1024;
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

export interface EventsDeps {
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
  /** The text of the API key. */
  token: string;
}

/**
 * Whether a client wants a stream: it names the type, as every client of event streams does, and no JSON. Generated
 * clients name all types that the description has, and read a batch.
 */
function wantsStream(headers: Headers): boolean {
  const ranges = (headers.get("accept") ?? "").toLowerCase().split(",")
    .map((range) => range.split(";").map((part) => part.trim()));
  const isNamed = ranges.some(([type, ...parameters]) =>
    type === STREAM_TYPE && !parameters.some((it) => /^q=0(\.0*)?$/.test(it))
  );
  return isNamed && !ranges.some(([type]) => type.includes("json"));
}

/**
 * Reads and validates a request, and resolves to the function that carries it out, which may take long. Rejects with
 * `invalid_parameter`, `malformed_request`, and `feed_reset` if the log has no line with the id of the request.
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
  const { lastEventId: id } = query;
  const place = id === undefined || id === NOW
    ? feed.endOf(id === NOW ? entry.head : EMPTY_HEAD)
    : { position: parseInt(id), id };
  // An error must be the response, also of a stream.
  await feed.expectPlace(place, entry);
  const request = { query, entry, place, client, requestId, token };
  return wantsStream(headers)
    ? () => Promise.resolve(streamEvents(deps, request))
    : () => listEvents(deps, request, baseUrl);
}

/** Resolves to a batch of events: at once if there are some, and otherwise after the wait of the query. */
async function listEvents(
  deps: EventsDeps,
  { query, client, token, ...request }: EventsRequest,
  baseUrl: string,
): Promise<HttpResponse> {
  const { feed, followers, runtime } = deps;
  let { entry, place } = request;
  const start = place.position;
  const events: string[] = [];
  let length = 0;
  /** Reads on, and returns whether this is the response. */
  const readOn = async () => {
    while (place.position < entry.head.position) {
      for (const line of await feed.linesAfter(place, entry)) {
        place = line;
        if (!isWanted(line, query)) continue;
        const { json } = line.event;
        events.push(json);
        length += json.length;
        if (events.length === query.limit || length >= BATCH_LENGTH) return true;
      }
      if (place.position - start >= SCAN_LIMIT) return true;
    }
    return events.length > 0;
  };
  if (!await readOn() && query.timeout > 0) {
    const alarm = new Alarm();
    let isStopped = false;
    let error: unknown;
    const stop = () => {
      isStopped = true;
      alarm.ring();
    };
    const follower: Follower = {
      onLook(look) {
        entry = look ?? entry;
        if (place.position < entry.head.position) alarm.ring();
      },
      end(reason) {
        // At a shutdown, an empty batch is a true response.
        if (serviceErrorCode(reason) === "shutting_down") return stop();
        error = reason;
        alarm.ring();
      },
    };
    followers.add(token, follower, entry);
    const cancel = runtime.setTimer(query.timeout, stop);
    client.signal.addEventListener("abort", stop);
    try {
      do {
        await alarm.wait();
        if (error !== undefined) throw error;
      } while (!isStopped && !await readOn());
    } finally {
      cancel();
      client.signal.removeEventListener("abort", stop);
      followers.remove(token, follower);
    }
  }
  return {
    status: 200,
    body: `[${events.join(",")}]`,
    headers: {
      ...NEVER_STORED,
      vary: "accept",
      link: `<${baseUrl}/events?${queryAfter(place.id, query)}>; rel="next"`,
    },
    contentHeaders: { "content-type": BATCH_TYPE },
  };
}

/** Opens a stream of events; for HEAD, only shows its headers. */
function streamEvents(deps: EventsDeps, request: EventsRequest): HttpResponse {
  return {
    status: 200,
    body: request.client.method === "HEAD" ? null : new EventStream(deps, request).readable,
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

/** A stream. Its client pulls: what it has not read yet stays in the log. */
class EventStream implements Follower {
  readonly readable: ReadableStream<Uint8Array>;
  #deps: EventsDeps;
  #request: EventsRequest;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #isEnded = false;
  /** Monotonic time in milliseconds. */
  #sentAt: number;
  #alarm = new Alarm();
  #cancelTimer: () => void;

  constructor(deps: EventsDeps, request: EventsRequest) {
    const { followers, runtime } = deps;
    this.#deps = deps;
    this.#request = request;
    this.#sentAt = runtime.monotonicNow();
    followers.add(request.token, this, request.entry);
    this.#cancelTimer = runtime.setTimer(STREAM_MS * (1 + runtime.random() / 2), () => this.end());
    this.readable = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        // A client that loses the connection before the first event continues from here, too.
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\nid: ${request.place.id}\n\n`));
      },
      pull: () => this.#pull(),
      cancel: () => this.#leave(),
    }, { highWaterMark: 0 });
  }

  onLook(look: HeadEntry | undefined): void {
    const entry = look ?? this.#request.entry;
    this.#request.entry = entry;
    // Also rings again after a read that failed.
    if (this.#request.place.position < entry.head.position || this.#isQuiet()) this.#alarm.ring();
  }

  /** A client that does not read finds the end when it has read what it was sent. */
  end(reason?: unknown): void {
    // The next request of the client gets any other error.
    if (reason !== undefined && codeOf(reason) === "internal_error") {
      const { requestId } = this.#request;
      this.#deps.report("error", "stream_failed", { requestId, reason: reasonOf(reason) });
    }
    this.#leave();
    this.#alarm.ring();
  }

  #leave(): void {
    this.#isEnded = true;
    this.#cancelTimer();
    this.#deps.followers.remove(this.#request.token, this);
  }

  /** Sends the next bytes when there are some, or ends the stream. The next request of the client says why. */
  async #pull(): Promise<void> {
    try {
      while (!this.#isEnded) {
        const bytes = await this.#read() ?? this.#heartbeat();
        // The client may have gone away meanwhile.
        if (this.#isEnded) break;
        if (bytes !== undefined) return this.#controller.enqueue(bytes);
        await this.#alarm.wait();
      }
    } catch (error) {
      this.end(error);
    }
    this.#controller.close();
  }

  /** Resolves to the next messages; `undefined` if there are none, or the store is away until another look. */
  async #read(): Promise<Uint8Array | undefined> {
    const { feed, runtime } = this.#deps;
    const { place, entry, query } = this.#request;
    if (place.position >= entry.head.position) return undefined;
    const lines = await feed.linesAfter(place, entry).catch((error) => {
      if (!(error instanceof StoreError)) throw error;
    });
    if (lines === undefined) return undefined;
    const messages: Uint8Array[] = [];
    let bytes = 0;
    for (const line of lines) {
      this.#request.place = line;
      if (!isWanted(line, query)) continue;
      const message = messageOf(line);
      messages.push(message);
      bytes += message.length;
      if (bytes >= WRITE_BYTES) break;
    }
    const { place: last } = this.#request;
    // Without data, this only tells the client from where to resume.
    if (!isWanted(last, query)) messages.push(encoder.encode(`id: ${last.id}\n\n`));
    this.#sentAt = runtime.monotonicNow();
    return Buffer.concat(messages);
  }

  #heartbeat(): Uint8Array | undefined {
    if (!this.#isQuiet()) return undefined;
    this.#sentAt = this.#deps.runtime.monotonicNow();
    return HEARTBEAT;
  }

  #isQuiet(): boolean {
    return this.#deps.runtime.monotonicNow() - this.#sentAt >= HEARTBEAT_MS;
  }
}

type EventLine = FeedLine & { event: FeedEvent };

function isWanted(line: FeedLine, { type, status }: EventsQuery): line is EventLine {
  const { event } = line;
  return event !== undefined && (type === undefined || event.type === type) &&
    (status === undefined || event.statuses.includes(status));
}

/** An event as a message of a stream, encoded once for all streams. */
function messageOf({ id, event }: EventLine): Uint8Array {
  const { type, json } = event;
  return event.message ??= encoder.encode(`id: ${id}\nevent: ${type}\ndata: ${json}\n\n`);
}
