/** The headers that the responses of several operations have, as the description shows them. */

import { FEED_ID_PATTERN } from "eventstore-less/parts";
import { BASE_PATH } from "./base_path.ts";
import { Component } from "./component.ts";
import { ENTITY_TAG_PATTERN } from "./conditional_read.ts";
import { CODES } from "./described_errors.ts";
import { EXAMPLE_EVENT_ID, EXAMPLE_ULID } from "./described_event.ts";
import { ERRORS, RETRY_AFTER_SECONDS } from "./errors.ts";
import { NEVER_STORED, READ_HEADERS } from "./http_response.ts";
import { integerSchema } from "./requests/query.ts";
import { ACCEPT_PATCH } from "./requests/request_body.ts";

/** A header with a schema, or with one value. If a header has several meanings, a dot and the meaning follow its name. */
export function always(
  name: string,
  description: string,
  form: object | string,
  example?: unknown,
): Component {
  return header(name, true, description, form, example);
}

/** A header that a response may lack. */
export function sometimes(
  name: string,
  description: string,
  form: object | string,
  example?: unknown,
): Component {
  return header(name, false, description, form, example);
}

function header(
  name: string,
  required: boolean,
  description: string,
  form: object | string,
  example: unknown,
): Component {
  const schema = typeof form === "string" ? { type: "string", const: form } : form;
  return new Component("headers", name, { description, required, schema, example });
}

export function pattern(pattern: string, maxLength?: number) {
  return { type: "string", pattern, maxLength };
}

/** The schema of an address of the interface, given the pattern of what follows the path of the interface. */
export function addressPattern(rest: string) {
  return pattern(`^https?://[^<>]+${BASE_PATH}${rest}$`);
}

/** The schema of a `Link` to such an address. */
export function linkPattern(rest: string, rel = "next") {
  return pattern(`^<https?://[^<>]+${BASE_PATH}${rest}>; rel="${rel}"$`);
}

/** The headers of every response. */
export const COMMON_HEADERS: readonly Component[] = [
  always(
    "X-Request-Id",
    "Identifies this response in the operator's logs",
    pattern("^[0-7][0-9A-HJKMNP-TV-Z]{25}(-[0-9]+)?$", 43),
    EXAMPLE_ULID,
  ),
  sometimes(
    "Access-Control-Allow-Origin",
    "The origin of the calling script, if the operator lets scripts of that origin read responses",
    pattern("^https?://[^/]+$", 300),
    "https://shop.example",
  ),
  sometimes(
    "RateLimit",
    "If there is a limit: how many requests (`r`) the API key can send within the next seconds (`t`)",
    pattern('^"default";r=[0-9]{1,7};t=[12]$', 23),
    '"default";r=199;t=2',
  ),
  sometimes(
    "RateLimit-Policy",
    "If there is a limit: how many requests (`q`) an API key can send within some seconds (`w`)",
    pattern('^"default";q=[1-9][0-9]{0,6};w=2$', 23),
    '"default";q=200;w=2',
  ),
];

const WWW_AUTHENTICATE = always(
  "WWW-Authenticate",
  "How to authenticate (RFC 6750 section 3)",
  { type: "string", enum: CODES.flatMap((code) => ERRORS[code].challenge ?? []) },
);

const RETRY_AFTER = always(
  "Retry-After",
  "Seconds to wait before the next attempt (RFC 9110 section 10.2.3)",
  integerSchema("int32", 1, 60),
  RETRY_AFTER_SECONDS,
);

const ACCEPT_ENCODING = sometimes(
  "Accept-Encoding",
  "The accepted content coding, if the body was encoded (RFC 9110 section 12.5.3)",
  "identity",
);

/** The headers that errors of a status have, whatever the operation. */
export const ERROR_HEADERS: Readonly<Record<number, readonly Component[]>> = {
  401: [WWW_AUTHENTICATE],
  403: [WWW_AUTHENTICATE],
  415: [ACCEPT_ENCODING],
  429: [RETRY_AFTER],
  503: [RETRY_AFTER],
};

/** For the 415 of a PATCH. */
export const ACCEPT_PATCH_HEADER = sometimes(
  "Accept-Patch",
  "The accepted media types, if the body has another one (RFC 5789 section 3.1)",
  ACCEPT_PATCH["accept-patch"],
);

export const ETAG = always(
  "ETag",
  "Changes exactly when the content changes; for use in `If-None-Match`, and that of an animal, of a page of one id in `ids`, of a category, or of a webhook, in `If-Match`",
  pattern(ENTITY_TAG_PATTERN.source, 39),
  '"b56c655969147e6e31020b86f5267a00"',
);

export const NO_STORE = always(
  "Cache-Control.no-store",
  "The response must not be cached",
  NEVER_STORED["cache-control"],
);

export const IDEMPOTENCY_REPLAYED = sometimes(
  "Idempotency-Replayed",
  "Present if the response repeats that of an earlier request with the same key",
  "true",
);

export const FEED_POSITION = always(
  "X-Feed-Position",
  "The `lastEventId` from which events continue this list",
  pattern(FEED_ID_PATTERN.source, 33),
  EXAMPLE_EVENT_ID,
);

/** The headers of a read that has an `ETag`: {@linkcode READ_HEADERS}. */
export const HEADERS_OF_READS: readonly Component[] = [
  always(
    "Cache-Control.private",
    "A client may cache the response, but must revalidate it each time",
    READ_HEADERS["cache-control"],
  ),
  ETAG,
];

/** The headers of a write that shows what it has written. */
export const HEADERS_OF_WRITTEN: readonly Component[] = [NO_STORE, ETAG, IDEMPOTENCY_REPLAYED];

/** The headers of a write that shows nothing. */
export const HEADERS_OF_REMOVALS: readonly Component[] = [NO_STORE, IDEMPOTENCY_REPLAYED];
