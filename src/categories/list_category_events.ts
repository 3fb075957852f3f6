/** The operation `listCategoryEvents`: who named one category, as CloudEvents, newest first. */

import { assertNever, type HeadEntry } from "eventstore-less/parts";
import type { RecordedEvent } from "../../events/all_events.ts";
import type { ApiKey } from "../keys/api_key.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { arrayOf, content } from "../api/component.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { EVENTS_TAG, EXAMPLE_EVENT_ID, EXAMPLE_ULID } from "../api/described_event.ts";
import { HEADERS_OF_READS, linkPattern, sometimes } from "../api/described_headers.ts";
import { EVENT_BATCH_HEADERS, type HttpResponse } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { LIMIT_MAX } from "../api/requests/page_limit.ts";
import { queryParameters } from "../api/requests/query.ts";
import {
  listSubjectEvents,
  parseSubjectEventsQuery,
  SUBJECT_EVENTS_PARAMETERS,
  type SubjectEventsDeps,
} from "../api/subject_events.ts";
import type { CategoryEvent } from "./category_event.ts";
import type { CategoryReader } from "./category_reader.ts";
import { categorySubject } from "./category_records.ts";
import {
  CATEGORY_EVENT,
  CATEGORY_ID,
  EXAMPLE_CATEGORY,
  EXAMPLE_CATEGORY_EVENT,
} from "./described_categories.ts";
import { categoryIdOf } from "./parse_target.ts";
import { categoryNotFoundError } from "./write_category.ts";

export interface ListCategoryEventsDeps extends SubjectEventsDeps {
  categories: CategoryReader;
}

const LINK = sometimes(
  "Link.categoryHistory",
  "The address of the next page, with earlier events (RFC 8288); absent on the last page",
  linkPattern("/categories/(0|-?[1-9][0-9]*)/events\\?[^<>]+"),
  `<${EXAMPLE_BASE}/categories/${EXAMPLE_CATEGORY.id}/events?limit=20&cursor=${EXAMPLE_EVENT_ID}>; rel="next"`,
);

export const listCategoryEvents: Operation<ListCategoryEventsDeps> = {
  id: "listCategoryEvents",
  method: "GET",
  path: "/categories/{categoryId}/events",
  tag: EVENTS_TAG,
  summary: "List the events of a category",
  description:
    "Lists who named a category that has a name, newest first, one page at a time, also before it was removed and " +
    "named again.",
  parameters: [CATEGORY_ID, ...queryParameters(SUBJECT_EVENTS_PARAMETERS)],
  responses: {
    200: {
      description: "A page of events; the `Link` header names the next page, if there is one",
      headers: [LINK, ...HEADERS_OF_READS],
      content: content(
        arrayOf(CATEGORY_EVENT, LIMIT_MAX),
        [{ ...EXAMPLE_CATEGORY_EVENT, actor: EXAMPLE_ULID, actorlabel: "shop" }],
        [EVENT_BATCH_HEADERS["content-type"]],
      ),
    },
  },
  errors: [...ERRORS_OF_ALL, "category_not_found"],
  kind: "read",
  respond,
};

/** Rejects with `invalid_parameter`, `category_not_found` and `projection_damaged`. */
async function respond(
  deps: ListCategoryEventsDeps,
  exchange: ApiRequest,
  entry: HeadEntry,
  apiKey: ApiKey,
): Promise<HttpResponse> {
  const { path, search } = exchange.request;
  const query = parseSubjectEventsQuery(search);
  const id = categoryIdOf(path);
  const { byId } = await deps.categories.asOf(entry.head);
  const category = byId.get(id);
  if (category === undefined) throw categoryNotFoundError();
  return await listSubjectEvents(deps, exchange, entry, apiKey, query, {
    subject: categorySubject(id),
    state: category.name,
    position: category.position,
    stateAfter,
    stateBefore,
    damagedError: () => deps.categories.damagedError(category, entry.head),
  });
}

/** The name after an event. */
function stateAfter(event: RecordedEvent): string | undefined {
  const { type, data } = event as CategoryEvent;
  return type === "CategoryNamed" ? data.name : undefined;
}

/** The name before an event. */
function stateBefore(event: RecordedEvent): string | undefined {
  const category = event as CategoryEvent;
  switch (category.type) {
    case "CategoryNamed":
      return category.data.previous?.name;
    case "CategoryRemoved":
      return category.data.name;
    default:
      return assertNever(category);
  }
}
