/** Lists the events of one subject as CloudEvents, newest first, along the predecessors that they name. */

import { type Head, ServiceError } from "eventstore-less";
import {
  type BackgroundWork,
  encodePublicEvent,
  FEED_ID_PATTERN,
  feedPositionOf,
  type HeadEntry,
  readProof,
  sha256Hex,
  subjectOf,
} from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import type { RecordedEvent, RecordedLine } from "../../events/all_events.ts";
import { APPLICATION } from "../application.ts";
import { commandName } from "../runtime/words.ts";
import type { ApiKey } from "../keys/api_key.ts";
import type { ApiKeyLabels, ApiKeyReader } from "../keys/api_key_reader.ts";
import type { ApiRequest } from "./api_request.ts";
import { compressed } from "./compression.ts";
import { entityTag } from "./conditional_read.ts";
import { actorAttributes } from "./event_actor.ts";
import { EVENT_BATCH_HEADERS, type HttpResponse, READ_HEADERS } from "./http_response.ts";
import { CURSOR_DESCRIPTION, LIMIT, LIMIT_DEFAULT, NOT_A_CURSOR } from "./requests/page_limit.ts";
import { parameterError, type Parameters, parseQuery, queryOf } from "./requests/query.ts";

/** A page ends after so many bytes of lines, because slow clients keep them in memory. */
const PAGE_BYTES = 1024 * 1024;

interface SubjectEventsQuery {
  limit: number;
  /** The id of the last event on the page before. */
  cursor?: string;
}

export const SUBJECT_EVENTS_PARAMETERS: Parameters<Required<SubjectEventsQuery>> = {
  limit: LIMIT,
  cursor: {
    description: CURSOR_DESCRIPTION,
    schema: { type: "string", pattern: FEED_ID_PATTERN.source, maxLength: 33 },
    parse: (value, refuse) => FEED_ID_PATTERN.test(value) ? value : refuse(NOT_A_CURSOR),
  },
};

/** Throws `invalid_parameter`. */
export function parseSubjectEventsQuery(search: string): SubjectEventsQuery {
  return { limit: LIMIT_DEFAULT, ...parseQuery(search, SUBJECT_EVENTS_PARAMETERS) };
}

/** A subject as its record says it is, and what its events say of it. */
export interface SubjectHistory {
  /** Also its path in the interface: pets/7. */
  subject: string;
  state: string;
  /** Position of its last event. */
  position: number;
  /** The state that an event has left; `undefined` if it removed the subject. */
  stateAfter(event: RecordedEvent): string | undefined;
  /** The state that an event with a predecessor has found; `undefined` if the subject was removed before. */
  stateBefore(event: RecordedEvent): string | undefined;
  /** The error if the last event does not lead to the state. */
  damagedError(): ServiceError;
}

export interface SubjectEventsDeps {
  apiKeys: ApiKeyReader;
  background: BackgroundWork;
  store: Store;
}

/** A line of the log with an event of the subject. */
interface SubjectLine extends RecordedLine {
  /** The id of the event in the feed. */
  id: string;
}

/** Rejects with `invalid_parameter` and `projection_damaged`. */
export async function listSubjectEvents(
  { apiKeys, background, store }: SubjectEventsDeps,
  { request, baseUrl }: ApiRequest,
  { head }: HeadEntry,
  apiKey: ApiKey,
  query: SubjectEventsQuery,
  history: SubjectHistory,
): Promise<HttpResponse> {
  const lines = await readPage(store, head, query, history);
  const labels = await apiKeys.labelsFor(apiKey, head);
  const body = `[${lines.map((line) => encodeLine(line, labels)).join(",")}]`;
  const headers: HttpResponse["headers"] = { ...READ_HEADERS, vary: "accept-encoding" };
  const last = lines.at(-1);
  if (last?.event.predecessor !== undefined) {
    const rest = queryOf({ ...query, cursor: last.id });
    headers.link = `<${baseUrl}/${history.subject}/events?${rest}>; rel="next"`;
  }
  headers.etag = entityTag(body);
  const response = { status: 200, body, headers, contentHeaders: EVENT_BATCH_HEADERS };
  return await compressed(response, request.headers, () => background.turn("pages"));
}

/** The lines on a page. They are of one moment, because the log does not change. */
async function readPage(
  store: Store,
  head: Head,
  { limit, cursor }: SubjectEventsQuery,
  history: SubjectHistory,
): Promise<SubjectLine[]> {
  const page: SubjectLine[] = [];
  let bytes = 0;
  let line = cursor === undefined
    ? await lastLineOf(store, history)
    : await lineAfterCursor(store, head, cursor, history);
  while (line !== undefined) {
    page.push(line);
    bytes += line.line.length;
    const isFull = page.length === limit || bytes >= PAGE_BYTES;
    line = isFull ? undefined : await lineBefore(store, line, history);
  }
  return page;
}

/** The line of the last event. Rejects with `projection_damaged` unless it leads to the state. */
async function lastLineOf(store: Store, history: SubjectHistory): Promise<SubjectLine> {
  const line = await lineAt(store, history.position, history);
  if (line !== undefined && history.stateAfter(line.event) === history.state) return line;
  throw history.damagedError();
}

/**
 * The first line on the page with that cursor. Rejects with `invalid_parameter` unless the cursor is the id of an event of
 * the subject.
 */
async function lineAfterCursor(
  store: Store,
  head: Head,
  cursor: string,
  history: SubjectHistory,
): Promise<SubjectLine | undefined> {
  const position = parseInt(cursor);
  const isInLog = position >= 1 && position <= head.position;
  const shown = isInLog ? await lineAt(store, position, history) : undefined;
  if (shown?.id !== cursor) throw parameterError("cursor", NOT_A_CURSOR);
  return await lineBefore(store, shown, history);
}

/**
 * The line of the event before; `undefined` if a line names none, because its event is the first one, or because it was
 * written before format 6. Rejects with `projection_damaged` unless that event left the subject as the later one found it.
 */
async function lineBefore(
  store: Store,
  later: SubjectLine,
  history: SubjectHistory,
): Promise<SubjectLine | undefined> {
  const { position, predecessor } = later.event;
  if (predecessor === undefined) return undefined;
  const line = await lineAt(store, predecessor, history);
  const isBefore = line !== undefined &&
    history.stateAfter(line.event) === history.stateBefore(later.event);
  if (isBefore) return line;
  const message = `The event at position ${position} does not follow from the one at position ` +
    `${predecessor}, which it names`;
  throw new ServiceError("projection_damaged", message, { cause: `run ${commandName("audit")}` });
}

/** The line at a position; `undefined` if it has an event of another subject. */
async function lineAt(
  store: Store,
  position: number,
  { subject }: SubjectHistory,
): Promise<SubjectLine | undefined> {
  const { event, line } = await readProof(APPLICATION, store, position);
  if (subjectOf(APPLICATION, event) !== subject) return undefined;
  const { id } = feedPositionOf({ position, lastHash: sha256Hex(line) });
  return { event, line, id };
}

function encodeLine(line: SubjectLine, labels: ApiKeyLabels | undefined): string {
  const { id, event: { actor } } = line;
  return encodePublicEvent(APPLICATION, line, id, actorAttributes(actor, labels));
}
