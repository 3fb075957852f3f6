/** The operation `listEvents`: events of pets as a batch, or as a stream (https://html.spec.whatwg.org/#server-sent-events). */

import { Buffer } from "node:buffer";
import { EMPTY_HEAD, type HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import type { EventFeed, FeedEvent, FeedLine } from "../projections/event_feed.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { ServiceError } from "../service_error.ts";
import { HttpError } from "./errors.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import type { Follower, Followers } from "./limits/followers.ts";
import { type EventsQuery, NOW, parseEventsQuery, queryAfter } from "./requests/events_query.ts";

/** Maximum number of lines that one request looks at: with a filter, it may find nothing among them. */
const SCAN_LIMIT = 10_000;

/** Maximum number of events in one write to a stream: all that a slow reader holds in memory. */
const WRITE_LIMIT = 100;

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

export interface EventsRequest {
  query: EventsQuery;
  /** The head at which the request was admitted. */
  entry: HeadEntry;
  /** The position and the id of the last line that the client knows, or has passed. */
  position: number;
  lastId: string;
}

/** Whether a client wants a stream: it names the type, as every client of event streams does. */
export function wantsStream(headers: Headers): boolean {
  return /(?:^|,)\s*text\/event-stream\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i
    .test(headers.get("accept") ?? "");
}

/** Reads a request. Rejects with `invalid_parameter`, or with `feed_reset` if the log has no line with its id. */
export async function readEventsRequest(
  { feed }: EventsDeps,
  entry: HeadEntry,
  search: string,
  headers: Headers,
): Promise<EventsRequest> {
  const query = parseEventsQuery(search, headers);
  const { lastEventId = feed.idOf(EMPTY_HEAD) } = query;
  if (lastEventId === NOW) {
    return { query, entry, position: entry.head.position, lastId: feed.idOf(entry.head) };
  }
  const position = await feed.positionOf(lastEventId, entry);
  if (position === undefined) {
    throw new HttpError(
      "feed_reset",
      `The event ${lastEventId} is not in this log: follow from lastEventId=${NOW} and then ` +
        "read the animals again, or read all events without lastEventId",
    );
  }
  return { query, entry, position, lastId: lastEventId };
}

/** Resolves to a batch of events: at once if there are some, and otherwise after the wait of the query. */
export async function listEvents(
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
  const readOn = async () => {
    while (position < entry.head.position && position - start < SCAN_LIMIT) {
      for (const line of await feed.linesAfter(position, entry)) {
        position = line.position;
        lastId = line.id;
        if (isWanted(line, query)) events.push(line.event.json);
        if (events.length === query.limit) return;
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
    followers.add(token, follower);
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

/** Opens a stream of events; for HEAD, only shows its headers. */
export function streamEvents(
  deps: EventsDeps,
  request: EventsRequest,
  token: string,
  method: string,
): HttpResponse {
  return {
    status: 200,
    body: method === "HEAD" ? null : new EventStream(deps, request, token).readable,
    headers: { ...NEVER_STORED, vary: "accept", "x-accel-buffering": "no" },
    contentHeaders: { "content-type": STREAM_TYPE },
  };
}

/** A stream. Its client pulls: what it has not read yet stays in the log. */
class EventStream implements Follower {
  readonly readable: ReadableStream<Uint8Array>;
  #deps: EventsDeps;
  #request: EventsRequest;
  #token: string;
  #isEnded = false;
  #isClosed = false;
  #sentAt: number;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #cancelTimer: () => void;
  #wake = () => {};

  constructor(deps: EventsDeps, request: EventsRequest, token: string) {
    const { followers, runtime } = deps;
    this.#deps = deps;
    this.#request = request;
    this.#token = token;
    this.#sentAt = runtime.monotonicNow();
    followers.add(token, this);
    this.#cancelTimer = runtime.setTimer(STREAM_MS * (1 + runtime.random() / 2), () => this.end());
    this.readable = new ReadableStream({
      start: (controller) => {
        this.#controller = controller;
        // A client that loses the connection before the first event continues from here, too.
        controller.enqueue(encoder.encode(`retry: ${RETRY_MS}\nid: ${request.lastId}\n\n`));
      },
      pull: () => this.#pull(),
      cancel: () => this.#close(),
    }, { highWaterMark: 0 });
  }

  onLook(entry: HeadEntry): void {
    this.#request.entry = entry;
    const { position } = this.#request;
    if (position < entry.head.position || this.#isQuiet()) this.#wake();
  }

  end(): void {
    this.#cancelTimer();
    this.#isEnded = true;
    this.#wake();
    this.#cancelTimer = this.#deps.runtime.setTimer(BREAK_OFF_MS, () => {
      this.#close();
      this.#controller.error(BROKEN_OFF);
    });
  }

  #close(): void {
    this.#isClosed = true;
    this.#cancelTimer();
    this.#deps.followers.remove(this.#token, this);
  }

  async #pull(): Promise<void> {
    const bytes = await this.#next();
    if (this.#isClosed) return;
    if (bytes !== undefined) return this.#controller.enqueue(bytes);
    this.#close();
    this.#controller.close();
  }

  /** Resolves to the next bytes to send; `undefined` if the stream has to end. */
  async #next(): Promise<Uint8Array | undefined> {
    const { feed, runtime } = this.#deps;
    const request = this.#request;
    while (!this.#isEnded && !this.#isClosed) {
      const { position, entry, query } = request;
      if (position < entry.head.position) {
        const lines = (await feed.linesAfter(position, entry)).slice(0, WRITE_LIMIT);
        const last = lines.at(-1)!;
        request.position = last.position;
        this.#sentAt = runtime.monotonicNow();
        const messages = lines.filter((line): line is EventLine => isWanted(line, query))
          .map(messageOf);
        // Without data, this only tells the client from where to resume.
        if (!isWanted(last, query)) messages.push(encoder.encode(`id: ${last.id}\n\n`));
        return messages.length === 1 ? messages[0] : Buffer.concat(messages);
      }
      if (this.#isQuiet()) {
        this.#sentAt = runtime.monotonicNow();
        return HEARTBEAT;
      }
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
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
