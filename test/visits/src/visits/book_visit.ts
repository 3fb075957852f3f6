import { objectEncoder } from "eventstore-less/encoding";
import type { RecordedEvent } from "../../events/all_events.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { content, schemaComponent } from "../api/component.ts";
import { ERRORS_OF_ALL, ERRORS_OF_JSON_BODIES, ERRORS_OF_WRITES } from "../api/described_errors.ts";
import { HEADERS_OF_WRITTEN } from "../api/described_headers.ts";
import type { Operation } from "../api/operation.ts";
import { IDEMPOTENCY_KEY, parseIdempotencyKey } from "../api/requests/idempotency_key.ts";
import { parseBody } from "../api/requests/parse_body.ts";
import { parseQuery } from "../api/requests/query.ts";
import type { BodyReader } from "../api/requests/request_body.ts";
import { writtenResponse } from "../api/written_response.ts";
import { type WriteDeps, writeWithKey } from "../keys/write_with_key.ts";
import { EXAMPLE_VISIT, VISIT, VISITS_TAG } from "./described_visits.ts";
import { NewVisit, Visit } from "../../events/visit.ts";
import { visitCount } from "./visits.ts";

export interface BookVisitDeps extends WriteDeps {
  bodies: BodyReader;
}

const { id: _, ...EXAMPLE_NEW_VISIT } = EXAMPLE_VISIT;

export const bookVisit: Operation<BookVisitDeps> = {
  id: "bookVisit",
  method: "POST",
  path: "/visits",
  tag: VISITS_TAG,
  summary: "Book a visit",
  description: "Books a visit to the vet. The service assigns its `id`.",
  parameters: [IDEMPOTENCY_KEY],
  body: {
    description: "The visit, without its identifier",
    schema: schemaComponent("VisitInput", NewVisit),
    example: EXAMPLE_NEW_VISIT,
  },
  responses: {
    201: {
      description: "The visit was booked, by this request or by an earlier one with the same key",
      headers: HEADERS_OF_WRITTEN,
      content: content(VISIT, EXAMPLE_VISIT),
    },
  },
  errors: [...ERRORS_OF_ALL, ...ERRORS_OF_WRITES, ...ERRORS_OF_JSON_BODIES],
  kind: "write",
  prepare,
};

const encodeVisit = objectEncoder(Visit);

async function prepare(deps: BookVisitDeps, { request }: ApiRequest, token: string) {
  if (request.search !== "") parseQuery(request.search, {});
  const idempotencyKey = parseIdempotencyKey(request.headers);
  const booked = parseBody(await deps.bodies.readJson(request), NewVisit, Visit);
  return async () => {
    const { event, isDuplicate } = await writeWithKey(deps, { token, idempotencyKey }, {
      read: () => Promise.resolve(),
      decide: (head) => ({ type: "VisitBooked", data: { id: visitCount(head) + 1, ...booked } }),
      isOutcome: (earlier) => isBookingOf(earlier, booked),
    });
    return writtenResponse(201, { text: encodeVisit(event!.data), isDuplicate });
  };
}

function isBookingOf({ type, data }: RecordedEvent, { day, visitor }: NewVisit): boolean {
  return type === "VisitBooked" && data.day === day && data.visitor === visitor;
}
