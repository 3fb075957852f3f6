/** The operation `countAnimals`: how many animals each category has, from the index in memory. */

import type { Head } from "eventstore-less";
import { type BackgroundWork, feedPositionOf, type HeadEntry } from "eventstore-less/parts";
import type { StoreDamagedError } from "eventstore-less/store";
import type { ApiRequest } from "../api/api_request.ts";
import { arrayOf, content } from "../api/component.ts";
import { compressed } from "../api/compression.ts";
import { entityTag } from "../api/conditional_read.ts";
import { ERRORS_OF_ALL } from "../api/described_errors.ts";
import { FEED_POSITION, HEADERS_OF_READS } from "../api/described_headers.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import type { Operation } from "../api/operation.ts";
import { parseQuery } from "../api/requests/query.ts";
import { CATEGORIES_TAG, CATEGORY_COUNT, EXAMPLE_CATEGORY_COUNT } from "./described_categories.ts";

/** Maximum number of categories in a response. */
const COUNTS_LIMIT = 20_000;

export interface CountAnimalsDeps {
  background: BackgroundWork;
  index: {
    readonly isFilled: boolean;
    asOf(head: Head): Promise<{ readonly counts: ReadonlyMap<bigint, number> }>;
  };
  /** The known damage of the store's file. */
  storeDamage: () => StoreDamagedError | undefined;
}

export const countAnimals: Operation<CountAnimalsDeps> = {
  id: "countAnimals",
  method: "GET",
  path: "/categories/counts",
  tag: CATEGORIES_TAG,
  summary: "Count the animals of categories",
  description:
    "Returns how many animals each category has, whether it has a name or not. A category without animals is not in " +
    `this list. If animals have more than ${
      COUNTS_LIMIT.toLocaleString("en")
    } categories, those with the fewest ` +
    "animals are left out. The numbers may be newer than `X-Feed-Position`: after an event, read them again.",
  parameters: [],
  responses: {
    200: {
      description: "The categories that animals have, from the smallest identifier to the largest",
      headers: [FEED_POSITION, ...HEADERS_OF_READS],
      content: content(arrayOf(CATEGORY_COUNT, COUNTS_LIMIT), [EXAMPLE_CATEGORY_COUNT]),
    },
  },
  errors: ERRORS_OF_ALL,
  kind: "read",
  respond,
};

async function respond(
  { background, index, storeDamage }: CountAnimalsDeps,
  exchange: ApiRequest,
  { head }: HeadEntry,
): Promise<HttpResponse> {
  const { request } = exchange;
  if (request.search !== "") parseQuery(request.search, {});
  const damage = storeDamage();
  if (damage !== undefined) throw damage;
  // The wait has turns, so the thread is not kept free for it.
  if (!index.isFilled) background.requestLeft(exchange);
  const { counts } = await index.asOf(head);
  const items = largestCounts(counts, COUNTS_LIMIT)
    .sort(([one], [other]) => one < other ? -1 : 1)
    .map(([id, animals]) => `{"id":${id},"animals":${animals}}`);
  const body = `[${items.join(",")}]`;
  const headers = {
    ...READ_HEADERS,
    vary: "accept-encoding",
    etag: entityTag(body),
    "x-feed-position": feedPositionOf(head).id,
  };
  const response = { status: 200, body, headers };
  return await compressed(response, request.headers, () => background.turn("pages"));
}

/**
 * All counts or, if these are more than `limit`, the largest ones. Of equal counts, all or none are there, so that every
 * instance responds with the same ones.
 */
export function largestCounts(
  counts: ReadonlyMap<bigint, number>,
  limit: number,
): [bigint, number][] {
  const all = [...counts];
  if (all.length <= limit) return all;
  const sizes = Float64Array.from(counts.values()).sort();
  const largestLeftOut = sizes[sizes.length - limit - 1];
  return all.filter(([, animals]) => animals > largestLeftOut);
}
