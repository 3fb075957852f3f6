/**
 * The guides: what all operations have in common. In the description of the interface, each is a tag without
 * operations, so that pages show it beside the operations.
 */

import { ERRORS } from "../errors.ts";
import { DEPRECATION_HEADERS } from "../pets.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../requests/idempotency_key.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from "../requests/page_query.ts";
import { BODY_LIMIT_BYTES, BODY_LIMIT_MS } from "../requests/request_body.ts";
import GUIDES from "./guides.md" with { type: "text" };

/** The day of an HTTP date, without its weekday. */
export const REMOVAL_DATE = DEPRECATION_HEADERS.sunset.slice(5, 16);

export interface Guide {
  name: string;
  /** Markdown. */
  description: string;
}

/** `base` is the base address for the samples. */
export function guides(base: string): Guide[] {
  const { status, when: message } = ERRORS.pet_not_found;
  const values: Record<string, unknown> = {
    base,
    "body-KiB": BODY_LIMIT_BYTES / 1024,
    "body-seconds": BODY_LIMIT_MS / 1_000,
    "key-length": IDEMPOTENCY_KEY_MAX_LENGTH,
    "limit-default": LIMIT_DEFAULT,
    "limit-max": LIMIT_MAX,
    "limit-min": LIMIT_MIN,
    reused: ERRORS.idempotency_key_reused.status,
    "removal-date": REMOVAL_DATE,
    deprecation: DEPRECATION_HEADERS.deprecation,
    sunset: DEPRECATION_HEADERS.sunset,
    "example-error": JSON.stringify({ code: "pet_not_found", message, status }, null, 2),
    errors: errorList(),
  };
  const text = GUIDES.replaceAll(/\{\{([^}]+)\}\}/g, (_, name) => String(values[name]));
  return text.split(/^## /m).slice(1).map((guide) => {
    const [name] = guide.split("\n", 1);
    return { name, description: guide.slice(name.length).trim() };
  });
}

/** Every error code as a list in Markdown, because a table of so many words does not fit a phone. */
function errorList(): string {
  return Object.entries(ERRORS)
    .map(([code, { status, when, remedy }]) => `- **${status} \`${code}\`** ${when}. *${remedy}.*`)
    .join("\n");
}
