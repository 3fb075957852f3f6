/** The response that shows a page of pets, or a summary of them. */

import type { Head } from "eventstore-less";
import { type BackgroundWork, feedPositionOf, type HeadEntry } from "eventstore-less/parts";
import type { ApiRequest } from "../api/api_request.ts";
import { compressed } from "../api/compression.ts";
import { entityTagOfHash } from "../api/conditional_read.ts";
import { type HttpResponse, READ_HEADERS } from "../api/http_response.ts";
import { queryOf } from "../api/requests/query.ts";
import { headOf, type Page } from "./page.ts";

/** The response with a page, which keeps its headers for the next one. */
export function pageResponse(
  page: Page,
  { background }: { background: BackgroundWork },
  { request, baseUrl }: ApiRequest,
  entry: HeadEntry,
  headersAt: (head: Head) => Record<string, string>,
): HttpResponse | Promise<HttpResponse> {
  const head = headOf(page, entry);
  const cached = page.cachedHeaders;
  const isValid = cached?.head === head && cached.baseUrl === baseUrl;
  const headers = isValid ? cached.headers : headersAt(head);
  if (!isValid) page.cachedHeaders = { head, baseUrl, headers };
  const response = { status: 200, body: page.text, headers };
  return compressed(response, request.headers, () => background.turn("pages"), page);
}

/** The headers of a page of a query at a path of the interface. */
export function headersOfPage(
  { hash, next }: Page,
  path: string,
  query: object,
  head: Head,
  baseUrl: string,
): Record<string, string> {
  const headers: Record<string, string> = {
    ...READ_HEADERS,
    vary: "accept-encoding",
    etag: entityTagOfHash(hash),
    "x-feed-position": feedPositionOf(head).id,
  };
  if (next !== undefined) {
    // Absolute (RFC 8288), because many clients do not resolve it.
    const address = `${baseUrl}${path}?${queryOf({ ...query, cursor: next })}`;
    headers.link = `<${address}>; rel="next"`;
  }
  return headers;
}
