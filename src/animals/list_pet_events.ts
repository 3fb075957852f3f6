/** The operation `listPetEvents`: what happened to one animal, as CloudEvents, newest first. */

import type { HeadEntry } from "eventstore-less/parts";
import type { RecordedEvent } from "../../events/all_events.ts";
import { encodePet } from "../../events/pet.ts";
import { petBefore } from "../../events/pet_event.ts";
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
import { EXAMPLE_PET, EXAMPLE_PET_EVENT, PET_EVENT, PET_ID } from "./described_pets.ts";
import type { PetEvent } from "./pet_event.ts";
import { petIdOf, petNotFoundError } from "./pet_id.ts";
import { petSubject } from "./pet_keys.ts";
import type { PetReader } from "./pet_reader.ts";
import { damagedPetError } from "./pet_records.ts";
import * as states from "./pet_state.ts";

export interface ListPetEventsDeps extends SubjectEventsDeps {
  pets: PetReader;
}

const LINK = sometimes(
  "Link.history",
  "The address of the next page, with earlier events (RFC 8288); absent on the last page",
  linkPattern("/pets/[1-9][0-9]*/events\\?[^<>]+"),
  `<${EXAMPLE_BASE}/pets/${EXAMPLE_PET.id}/events?limit=20&cursor=${EXAMPLE_EVENT_ID}>; rel="next"`,
);

export const listPetEvents: Operation<ListPetEventsDeps> = {
  id: "listPetEvents",
  method: "GET",
  path: "/pets/{petId}/events",
  tag: EVENTS_TAG,
  summary: "List the events of an animal",
  description:
    "Lists what happened to one animal, newest first, one page at a time. The service finds an event by the one " +
    "after it. Events that it stored before version 6 do not name the one before, so the list ends with the newest " +
    "of these. A page with a megabyte has no more events.",
  parameters: [PET_ID, ...queryParameters(SUBJECT_EVENTS_PARAMETERS)],
  responses: {
    200: {
      description: "A page of events; the `Link` header names the next page, if there is one",
      headers: [LINK, ...HEADERS_OF_READS],
      content: content(
        arrayOf(PET_EVENT, LIMIT_MAX),
        [{ ...EXAMPLE_PET_EVENT, actor: EXAMPLE_ULID, actorlabel: "shop" }],
        [EVENT_BATCH_HEADERS["content-type"]],
      ),
    },
  },
  errors: [...ERRORS_OF_ALL, "pet_not_found"],
  kind: "read",
  respond,
};

/** Rejects with `invalid_parameter`, `pet_not_found` and `projection_damaged`. */
async function respond(
  deps: ListPetEventsDeps,
  exchange: ApiRequest,
  entry: HeadEntry,
  apiKey: ApiKey,
): Promise<HttpResponse> {
  const { path, search } = exchange.request;
  const query = parseSubjectEventsQuery(search);
  const state = await deps.pets.getState(petIdOf(path), entry);
  if (state === undefined) throw petNotFoundError();
  const { pet, position } = state;
  return await listSubjectEvents(deps, exchange, entry, apiKey, query, {
    subject: petSubject(pet.id),
    state: textOf(state),
    position,
    stateAfter,
    stateBefore,
    damagedError: () => damagedPetError(pet.id, entry.head, "does not follow from its event"),
  });
}

function stateAfter(event: RecordedEvent): string {
  return textOf(states.stateAfter(event as PetEvent));
}

/** Before an addition, it is a text that no pet has. */
function stateBefore(event: RecordedEvent): string {
  const { type, data } = event as PetEvent;
  if (type === "PetRestored") return textOf({ pet: data, isRemoved: true });
  const pet = petBefore(event as PetEvent);
  return pet === undefined ? "" : textOf({ pet, isRemoved: false });
}

function textOf({ pet, isRemoved }: Pick<states.PetState, "pet" | "isRemoved">): string {
  return `${isRemoved ? "removed " : ""}${encodePet(pet)}`;
}
