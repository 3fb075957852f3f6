import type { BackgroundWork, HeadEntry } from "eventstore-less/parts";
import { z } from "zod";
import { Pet } from "../../events/pet.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { EXAMPLE_BASE } from "../api/base_path.ts";
import { content, schemaComponent } from "../api/component.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import {
  FEED_POSITION,
  HEADERS_OF_READS,
  linkPattern,
  sometimes,
} from "../api/described_headers.ts";
import type { HttpResponse } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { queryParameters } from "../api/requests/query.ts";
import type { ApiKey } from "../keys/api_key.ts";
import { PETS_TAG, STATUS_FILTERS } from "./described_pets.ts";
import { isSearch, type Page } from "./page.ts";
import { parseSummaryQuery, SUMMARY_PARAMETERS } from "./page_query.ts";
import { headersOfPage, pageResponse } from "./page_response.ts";
import type { PetReader } from "./pet_reader.ts";
import { MEASURED_AS, SCAN_LIMIT, SCAN_MS } from "./pet_search.ts";
import { SIMILAR_NAMES_MAX } from "./pet_summary.ts";

export interface SummarizePetsDeps {
  background: BackgroundWork;
  pets: PetReader;
}

const PATH = "/pets/summary";

const LINK = sometimes(
  "Link.rest",
  "The address of the summary of the rest (RFC 8288); absent if there is no rest",
  linkPattern("/pets/summary\\?[^<>]+"),
  `<${EXAMPLE_BASE}/pets/summary?name=rex&cursor=81>; rel="next"`,
);

const COUNT = z.int().min(0).meta({ format: "int64" });

const PET_SUMMARY = schemaComponent(
  "PetSummary",
  z.strictObject({
    counts: z.strictObject(Object.fromEntries(STATUS_FILTERS.map((it) => [it, COUNT])))
      .meta({ description: "How many animals have each status; `none` are those without one" }),
    similarNames: z.array(Pet.shape.name).max(SIMILAR_NAMES_MAX)
      .meta({ description: "If a search finds nothing: names that it may have meant" }),
  }),
);

const EXAMPLE = {
  counts: Object.fromEntries(STATUS_FILTERS.map((it) => [it, 0])),
  similarNames: ["Rex"],
};

export const summarizePets: Operation<SummarizePetsDeps> = {
  id: "summarizePets",
  method: "GET",
  path: PATH,
  tag: PETS_TAG,
  summary: "Count animals by status",
  description:
    "Counts what a list with these filters finds, on all its pages. A search goes through at most " +
    `${SCAN_LIMIT.toLocaleString("en")} animals, for at most ${
      SCAN_MS / 1_000
    } seconds: the \`Link\` header then ` +
    "names the summary of the rest, whose counts are added. If a search finds nothing, the summary names " +
    `up to ${SIMILAR_NAMES_MAX} similar names.`,
  parameters: queryParameters(SUMMARY_PARAMETERS),
  responses: {
    200: {
      description: "The summary",
      headers: [LINK, FEED_POSITION, ...HEADERS_OF_READS],
      content: content(PET_SUMMARY, EXAMPLE),
    },
  },
  errors: [...ERRORS_OF_ALL, "overloaded"],
  sample: { query: "?name=rxe" },
  kind: "read",
  respond,
};

function respond(
  deps: SummarizePetsDeps,
  exchange: ApiRequest,
  entry: HeadEntry,
  apiKey: ApiKey,
): HttpResponse | Promise<HttpResponse> {
  const query = parseSummaryQuery(exchange.request.search);
  if (isSearch(query)) exchange.measuredAs = MEASURED_AS;
  const show = (page: Page) =>
    pageResponse(page, deps, exchange, entry, (head) => {
      return headersOfPage(page, PATH, query, head, exchange.baseUrl);
    });
  const summary = deps.pets.summarize(query, entry, apiKey.id);
  if (!(summary instanceof Promise)) return show(summary);
  if (deps.pets.isSlow(query)) deps.background.requestLeft(exchange);
  return summary.then(show);
}
