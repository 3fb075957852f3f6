/** The guides of the reference: what all operations have in common, one page a subject. */

import { escape } from "@std/html/entities";
import { STATUS_CODE } from "@std/http/status";
import { ERRORS } from "../errors.ts";
import { IDEMPOTENCY_KEY_MAX_LENGTH } from "../requests/idempotency_key.ts";
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from "../requests/page_query.ts";
import { DEPRECATION_HEADERS } from "../pets.ts";
import { BODY_LIMIT_BYTES, BODY_LIMIT_MS } from "../requests/request_body.ts";
import { REMOVAL_DATE } from "./openapi.ts";

export interface Guide {
  /** The last segment of the guide's path. */
  name: string;
  title: string;
  /** One sentence without a period, for lists of guides and for the search. */
  summary: string;
  /** Returns the text as HTML. `base` is the base address for the samples. */
  content: (base: string) => string;
}

export const GUIDES: readonly Guide[] = [
  {
    name: "errors",
    title: "Errors",
    summary: "The body of an error, and every error code with its remedy",
    content: () => `
<p>Every error response has a JSON body with three fields:</p>
${sample("JSON", EXAMPLE_ERROR)}
<dl>
  <dt><code>code</code></dt>
  <dd>The kind of error, for programs. The codes are stable.</dd>
  <dt><code>message</code></dt>
  <dd>A description for people. Its wording may change.</dd>
  <dt><code>status</code></dt>
  <dd>The HTTP status of the response.</dd>
</dl>
<p>Every response has an <code>X-Request-Id</code>. The operator can find the response by it.</p>
<h2>All codes</h2>
${
      table(
        ["Code", "Status", "When", "What to do"],
        Object.entries(ERRORS).map(([code, { status, when, remedy }]) => [
          `<code id="${code}">${code}</code>`,
          String(status),
          escape(when),
          escape(remedy),
        ]),
      )
    }`,
  },
  {
    name: "paging",
    title: "Paging",
    summary: "How to read a list that is longer than one page",
    content: (base) => `
<p>A list is an array of at most <code>limit</code> animals (${LIMIT_MIN} to ${LIMIT_MAX}, by default
${LIMIT_DEFAULT}), newest first. Its <code>Link</code> header has the address of the next page. On the
last page, the header is absent. Paging neither skips nor repeats an animal, even if animals are added
meanwhile.</p>
<p>Follow the address as it is. Do not build a <code>cursor</code> yourself.</p>
${
      sample(
        "Python",
        `import os
import requests

url = "${base}/pets?limit=100"
while url:
    response = requests.get(url, headers={"Authorization": "Bearer " + os.environ["KEY"]})
    response.raise_for_status()
    for pet in response.json():
        print(pet["id"], pet["name"])
    url = response.links.get("next", {}).get("url")`,
      )
    }
${
      sample(
        "JavaScript",
        `let url = "${base}/pets?limit=100";
while (url) {
  const response = await fetch(url, {
    headers: { Authorization: \`Bearer \${process.env.KEY}\` },
  });
  if (!response.ok) throw new Error(await response.text());
  for (const pet of await response.json()) console.log(pet.id, pet.name);
  url = /<([^>]+)>; rel="next"/.exec(response.headers.get("Link"))?.[1];
}`,
      )
    }`,
  },
  {
    name: "retries",
    title: "Retries",
    summary: "How to repeat a request safely, so that an animal is added only once",
    content: (base) => `
<p>A request that failed with 503, or that got no response, may have added the animal. To retry safely,
send an <code>Idempotency-Key</code> of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} characters, such as a UUID: a new
value for each animal, reused for every retry.</p>
${
      sample(
        "curl",
        `curl --retry 5 "${base}/pets" \\
  -H "Authorization: Bearer $KEY" \\
  -H "Idempotency-Key: $(openssl rand -hex 16)" \\
  -H "Content-Type: application/json" \\
  -d '{"name":"Rex","categoryId":7,"status":"available"}'`,
      )
    }
<p>Within 24 hours, the animal is added only once. A retry gets the first response again, with
<code>Idempotency-Replayed: true</code>. The same value with another animal gets
${ERRORS.idempotency_key_reused.status}. The value is valid
only for the API key that it was first sent with.</p>
<p>Reads change nothing, so you can always repeat them.</p>
<h2>Which errors to retry</h2>
${
      table(["Status", "Retry?"], [
        ["408", "Yes"],
        ["429, 503", "Yes, after the seconds that <code>Retry-After</code> names"],
        ["500", "No: report the <code>X-Request-Id</code> to the operator"],
        ["Other 4xx", "No: correct the request first"],
        ["No response", "Yes, with growing pauses"],
      ])
    }`,
  },
  {
    name: "polling",
    title: "Polling",
    summary: "How to check for changes at little cost",
    content: (base) => `
<p>Lists and animals have an <code>ETag</code>. Send it back as <code>If-None-Match</code>: if the content
is unchanged, the response is 304 without a body.</p>
${
      sample(
        "curl",
        `curl -s --etag-compare pets.etag --etag-save pets.etag "${base}/pets" \\
  -H "Authorization: Bearer $KEY"`,
      )
    }
<p>The first call prints the list and saves its tag. Later calls print nothing until the list changes.</p>
<p>The newest animals are first, so polling the first page is enough to see new ones.</p>`,
  },
  {
    name: "limits",
    title: "Limits",
    summary: "The limits of sizes, times, rates and numbers",
    content: () => `
${
      table(["What", "Limit"], [
        ["Body of a request", `${BODY_LIMIT_BYTES / 1024} KiB`],
        ["Time for a body to arrive", `${BODY_LIMIT_MS / 1_000} seconds`],
        ["Animals on a page", String(LIMIT_MAX)],
        ["<code>Idempotency-Key</code>", `${IDEMPOTENCY_KEY_MAX_LENGTH} characters, for 24 hours`],
      ])
    }
<p>A field or a query parameter that the reference does not describe is rejected, not ignored.</p>
<h2>Request rate</h2>
<p>The operator can limit the requests of each API key. Every response to a valid key then has two
headers:</p>
<dl>
  <dt><code>RateLimit-Policy</code></dt>
  <dd>How many requests (<code>q</code>) a key can send within a number of seconds (<code>w</code>).</dd>
  <dt><code>RateLimit</code></dt>
  <dd>How many requests (<code>r</code>) are left for the next seconds (<code>t</code>).</dd>
</dl>
<p>A request beyond the limit has no effect. After about a second, it gets
${STATUS_CODE.TooManyRequests} <code>rate_limited</code> with <code>Retry-After</code>.</p>
<h2>Integers</h2>
<p>Identifiers are 64-bit integers. <code>id</code> is safe in every JSON client. A
<code>categoryId</code> beyond 2<sup>53</sup> is stored exactly, and needs a client that reads it
exactly.</p>`,
  },
  {
    name: "deprecation",
    title: "Deprecation",
    summary: "How the removal of an operation is announced",
    content: (base) => `
<p>Every response of a deprecated operation has these headers:</p>
<dl>
  <dt><code>Deprecation</code></dt>
  <dd>Since when the operation is deprecated, in seconds since 1970
  (<a href="https://www.rfc-editor.org/rfc/rfc9745">RFC 9745</a>).</dd>
  <dt><code>Sunset</code></dt>
  <dd>When the operation will be removed (<a href="https://www.rfc-editor.org/rfc/rfc8594">RFC 8594</a>).</dd>
  <dt><code>Link</code> with <code>rel="successor-version"</code></dt>
  <dd>The replacement of the operation.</dd>
</dl>
<p>Log the <code>Sunset</code> header in your client, and you will know in time.</p>
<h2>Deprecated now</h2>
${
      table(["Operation", "Removal", "Replacement"], [
        [
          "<code>GET /pets/{petId}</code>",
          REMOVAL_DATE,
          "<code>GET /pets</code> with a <code>status</code>",
        ],
      ])
    }
${
      sample(
        "HTTP",
        `Deprecation: ${DEPRECATION_HEADERS.deprecation}
Sunset: ${DEPRECATION_HEADERS.sunset}
Link: <${base}/pets?status=available>; rel="successor-version"`,
      )
    }`,
  },
];

const EXAMPLE_ERROR = JSON.stringify(
  {
    code: "pet_not_found",
    message: ERRORS.pet_not_found.when,
    status: ERRORS.pet_not_found.status,
  },
  null,
  2,
);

/** A block of code under the name of its language. */
function sample(language: string, code: string): string {
  return `<figure><figcaption>${language}</figcaption><pre tabindex="0"><code>${
    escape(code)
  }</code></pre></figure>`;
}

/** A table of cells in HTML. On a narrow page, each cell shows the name of its column. */
function table(columns: string[], rows: string[][]): string {
  const head = columns.map((column) => `<th>${column}</th>`).join("");
  const body = rows.map((cells) =>
    `<tr>${cells.map((cell, at) => `<td data-column="${columns[at]}">${cell}</td>`).join("")}</tr>`
  );
  return `<table><thead><tr>${head}</tr></thead><tbody>${body.join("\n")}</tbody></table>`;
}
