/** The texts of the description that are not about one operation: guides, and samples of requests. */

import { ERRORS } from "../../api/errors.ts";
import { DEPRECATION_HEADERS, REMOVAL_DATE } from "../../animals/get_pet.ts";
import { FOLLOWERS_OF_KEY_LIMIT } from "eventstore-less/feed";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../../api/requests/idempotency_key.ts";
import * as EVENTS from "../events_query.ts";
import { SCAN_LIMIT, SCAN_MS, SEARCHES_OF_KEY_LIMIT } from "../../animals/name_search.ts";
import * as PAGES from "../../animals/page_query.ts";
import * as LIMITS from "../../api/requests/page_limit.ts";
import { CATEGORIES_LIMIT } from "../../categories/write_category.ts";
import { BODY_LIMIT_MS } from "../../api/requests/request_body.ts";
import { BODY_LIMIT_BYTES } from "../../runtime/service_request.ts";
import SAMPLES from "./code_samples.md" with { type: "text" };
import GUIDES from "./guides.md" with { type: "text" };

/** The guides in Markdown, with samples for that address. Each is a tag without operations. */
export function guides(base: string) {
  const { status, when: message } = ERRORS.pet_not_found;
  const values: Record<string, unknown> = {
    ...PAGES,
    ...LIMITS,
    CATEGORIES_LIMIT: CATEGORIES_LIMIT.toLocaleString("en"),
    ...EVENTS,
    base,
    "body-KiB": BODY_LIMIT_BYTES / 1024,
    "body-seconds": BODY_LIMIT_MS / 1_000,
    "wait-seconds": EVENTS.EVENTS_TIMEOUT_MAX / 1_000,
    "scan-limit": SCAN_LIMIT.toLocaleString("en"),
    "scan-seconds": SCAN_MS / 1_000,
    FOLLOWERS_OF_KEY_LIMIT,
    SEARCHES_OF_KEY_LIMIT,
    IDEMPOTENCY_KEY_MAX_LENGTH,
    reused: ERRORS.idempotency_key_reused.status,
    reset: ERRORS.feed_reset.status,
    failed: ERRORS.precondition_failed.status,
    "removal-date": REMOVAL_DATE,
    ...DEPRECATION_HEADERS,
    "example-error": JSON.stringify({ code: "pet_not_found", message, status }, null, 2),
    // A list, because a table of so many words does not fit a phone.
    errors: Object.entries(ERRORS).map(([code, { status, when, remedy }]) =>
      `- **${status} \`${code}\`** ${when}. *${remedy}.*`
    ).join("\n"),
  };
  return sectionsOf(fill(GUIDES, values));
}

const LANGUAGES = { shell: "curl", javascript: "JavaScript", python: "Python", go: "Go" };

/** Samples of a request, as `x-codeSamples`: whole programs, which read the API key from `KEY`. A missing one is left out. */
export function codeSamples(kind: string, url: string, body: object = {}) {
  const section = sectionsOf(SAMPLES).find(({ name }) => name.includes(kind));
  const spaced = JSON.stringify(body, null, 1).replaceAll(/\n */g, " ");
  const values = {
    url,
    method: kind,
    function: kind.toLowerCase(),
    json: JSON.stringify(body),
    javascript: spaced.replaceAll(/"(\w+)":/g, "$1:"),
    python: spaced.replace("{ ", "{").replace(" }", "}"),
  };
  return Object.entries(LANGUAGES).flatMap(([lang, label]) => {
    const block = new RegExp(`^\`\`\`${lang}\n([^]+?)\n\`\`\`$`, "m");
    const template = block.exec(section?.description ?? "")?.[1];
    return template === undefined ? [] : { lang, label, source: fill(template, values) };
  });
}

/** Replaces each `{{name}}` by its value. */
function fill(template: string, values: Record<string, unknown>): string {
  return template.replaceAll(/\{\{([\w-]+)\}\}/g, (_, name) => String(values[name]));
}

function sectionsOf(markdown: string) {
  return markdown.split(/^## /m).slice(1).map((section) => {
    const [name] = section.split("\n", 1);
    return { name, description: section.slice(name.length).trim() };
  });
}
