/** The operation `listEvents`: events of pets as a batch, or as a stream (https://html.spec.whatwg.org/#server-sent-events). */

import { Buffer } from "node:buffer";
import { EMPTY_HEAD, type HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import type { EventFeed, FeedEvent, FeedLine } from "../projections/event_feed.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { ServiceError } from "../service_error.ts";
import { StoreError } from "../store/store_errors.ts";
import { HttpError } from "./errors.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import type { ApiRequest } from "./pets.ts";
import type { Follower, Followers } from "./limits/followers.ts";
import { type EventsQuery, NOW, parseEventsQuery, queryAfter } from "./requests/events_query.ts";

/** Maximum number of lines that one request looks at: with a filter, it may find nothing among them. */
const SCAN_LIMIT = 10_000;

/** A batch ends after so many UTF-16 code units, and a write to a stream after so many bytes: slow readers hold them. */
const BATCH_LENGTH = 1024 * 1024;
const WRITE_BYTES = 64 * 1024;

/** After this time without a message, a stream has a comment, so that nobody on the way takes it for dead. */
export const HEARTBEAT_MS = 15_000;

/** A stream ends after this time, and up to half as much again. So clients spread over the instances anew. */
export const STREAM_MS = 240_000;

/** A stream that has to end, and whose client does not read, is broken off after this time. */
const BREAK_OFF_MS = 1_000;

/** How long a client should wait before it resumes a stream, in milliseconds. */
const RETRY_MS = 1_000;

export const BATCH_TYPE = "application/cloudevents-batch+json";
export const STREAM_TYPE = "text/event-stream";

/** Breaks off a stream whose client does not read. */
const BROKEN_OFF = new Error("The stream had to end, and its client did not read it");

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(":\n\n");

export interface EventsDeps {
  feed: EventFeed;
  followers: Followers;
  heads: HeadReader;
  runtime: Runtime;
}

interface EventsRequest {
  query: EventsQuery;
  /** The head at which the request was admitted. */
  entry: HeadEntry;
  /** The position and the id of the last line that the client knows, or has passed. */
  position: number;
  lastId: string;
}

/**
 * Whether a client wants a stream: it names the type, as every client of event streams does, and no JSON. Generated
 * clients name all types that the description has, and read a batch.
 */
function wantsStream(headers: Headers): boolean {
  const accept = headers.get("accept") ?? "";
  return /(?:^|,)\s*text\/event-stream\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accept) &&
    !/json/i.test(accept);
}

/**
 * Reads and validates a request, and resolves to the function that carries it out, which may take long. Rejects with
 * `invalid_parameter`, `malformed_request`, and `feed_reset` if the log has no line with the id of the request.
 */
export async function prepareListEvents(
  deps: EventsDeps,
  { request: { headers, method }, search, baseUrl }: ApiRequest,
  entry: HeadEntry,
  token: string,
): Promise<() => Promise<HttpResponse>> {
  const { feed } = deps;
  const query = parseEventsQuery(search, headers);
  const { lastEventId = feed.idOf(EMPTY_HEAD) } = query;
  const isNow = lastEventId === NOW;
  const position = isNow ? entry.head.position : await feed.positionOf(lastEventId, entry);
  if (position === undefined) {
    throw new HttpError(
      "feed_reset",
      `The event ${lastEventId} is not in this log: follow from lastEventId=${NOW} and then ` +
        "read the animals again, or read all events without lastEventId",
    );
  }
  const lastId = isNow ? feed.idOf(entry.head) : lastEventId;
  const request = { query, entry, position, lastId };
  return wantsStream(headers)
    ? () => streamEvents(deps, request, token, method)
    : () => listEvents(deps, request, token, baseUrl);
}

/** Resolves to a batch of events: at once if there are some, and otherwise after the wait of the query. */
async function listEvents(
  deps: EventsDeps,
  request: EventsRequest,
  token: string,
  baseUrl: string,
): Promise<HttpResponse> {
  const { feed, followers, heads, runtime } = deps;
  const { query } = request;
  let { entry, position, lastId } = request;
  const events: string[] = [];
  const start = position;
  let length = 0;
  const readOn = async () => {
    while (position < entry.head.position && position - start < SCAN_LIMIT) {
      for (const line of await feed.linesAfter(position, entry)) {
        position = line.position;
        lastId = line.id;
        if (!isWanted(line, query)) continue;
        const { json } = line.event;
        events.push(json);
        length += json.length;
        if (events.length === query.limit || length >= BATCH_LENGTH) return;
      }
    }
  };
  await readOn();
  if (query.timeout > 0 && events.length === 0 && position - start < SCAN_LIMIT) {
    let isOver = false;
    let ended: ServiceError | undefined;
    let wake = () => {};
    const follower: Follower = {
      onLook(look) {
        entry = look;
        if (position < look.head.position) wake();
      },
      end(reason) {
        ended = reason;
        wake();
      },
    };
    followers.add(token, follower, entry);
    const cancel = runtime.setTimer(query.timeout, () => {
      isOver = true;
      wake();
    });
    try {
      while (events.length === 0 && position - start < SCAN_LIMIT && !isOver) {
        await new Promise<void>((resolve) => wake = resolve);
        if (ended !== undefined) throw ended;
        if (isOver) entry = await heads.fresh();
        await readOn();
      }
    } finally {
      cancel();
      followers.remove(token, follower);
    }
  }
  return {
    status: 200,
    body: `[${events.join(",")}]`,
    headers: {
      ...NEVER_STORED,
      vary: "accept",
      link: `<${baseUrl}/events?${queryAfter(lastId, query)}>; rel="next"`,
    },
    contentHeaders: { "content-type": BATCH_TYPE },
  };
}

/** Opens a stream of events; for HEAD, only shows its headers. Rejects if the log cannot be read. */
async function streamEvents(
  deps: EventsDeps,
  request: EventsRequest,
  token: string,
  method: string,
): Promise<HttpResponse> {
  const { position, entry } = request;
  if (position < entry.head.position) await deps.feed.linesAfter(position, entry);
  return {
    status: 200,
    body: method === "HEAD" ? null : new EventStream(deps, request, token).readable,
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
  #token: string;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #isEnded = false;
  /** Monotonic time in milliseconds. */
  #sentAt: number;
  #wake = () => {};
  #cancelTimer: () => void;

  constructor(deps: EventsDeps, request: EventsRequest, token: string) {
    const { followers, runtime } = deps;
    this.#deps = deps;
    this.#request = request;
    this.#token = token;
    this.#sentAt = runtime.monotonicNow();
    followers.add(token, this, request.entry);
    this.#cancelTimer = runtime.setTimer(STREAM_MS * (1 + runtime.random() / 2), () => this.end());
    this.readable = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        // A client that loses the connection before the first event continues from here, too.
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\nid: ${request.lastId}\n\n`));
      },
      pull: () => this.#pull(),
      cancel: () => this.#leave(),
    }, { highWaterMark: 0 });
  }

  onLook(entry: HeadEntry): void {
    this.#request.entry = entry;
    const { position } = this.#request;
    if (position < entry.head.position || this.#isQuiet()) this.#wake();
  }

  end(): void {
    this.#leave();
    this.#wake();
    // Without effect if the client has read all, because the stream is closed by then.
    this.#deps.runtime.setTimer(BREAK_OFF_MS, () => this.#controller.error(BROKEN_OFF));
  }

  #leave(): void {
    this.#isEnded = true;
    this.#cancelTimer();
    this.#deps.followers.remove(this.#token, this);
  }

  /** Sends the next bytes when there are some, or ends the stream. The next request of the client says why. */
  async #pull(): Promise<void> {
    try {
      while (!this.#isEnded) {
        const { position, entry: { head } } = this.#request;
        const bytes = position < head.position ? await this.#read() : this.#heartbeat();
        if (bytes !== undefined) return this.#controller.enqueue(bytes);
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
    } catch {
      this.#leave();
    }
    this.#controller.close();
  }

  /** Resolves to the next messages; `undefined` if the store is away until another look. */
  async #read(): Promise<Uint8Array | undefined> {
    const { feed, runtime } = this.#deps;
    const request = this.#request;
    const lines = await feed.linesAfter(request.position, request.entry).catch((error) => {
      if (!(error instanceof StoreError)) throw error;
    });
    if (lines === undefined) return undefined;
    const messages: Uint8Array[] = [];
    for (let bytes = 0, index = 0; bytes < WRITE_BYTES && index < lines.length; index++) {
      const line = lines[index];
      request.position = line.position;
      const isLast = index === lines.length - 1;
      if (!isWanted(line, request.query)) {
        // Without data, this only tells the client from where to resume.
        if (isLast) messages.push(encoder.encode(`id: ${line.id}\n\n`));
        continue;
      }
      const message = messageOf(line);
      messages.push(message);
      bytes += message.length;
    }
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
