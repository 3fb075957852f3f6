/**
 * The API reference page at /docs: Swagger UI, from the files of its npm package, so that nothing is
 * fetched from anywhere else. Files are read when they are asked for, and not kept.
 */

import type { Answer } from "./answer.ts";
import type { BaseAddresses } from "./openapi.ts";

type Route = [path: string, () => Promise<Answer>];

/** How long a browser keeps a file: a new release of the service is seen after that. */
const MAX_AGE_SECONDS = 3_600;

const OWN = new URL(".", import.meta.url);

/** Every address in the page is relative, so that it holds behind a proxy that adds to the path. */
export function docsPageRoutes(addresses: BaseAddresses): Route[] {
  const policy = { "content-security-policy": securityPolicy(addresses) };
  return [
    ["/", () => Promise.resolve({ status: 302, body: "", headers: { location: "docs" } })],
    ["/docs", () => fileAnswer(new URL("docs_page.html", OWN), "text/html", policy)],
    ["/docs/docs_page.css", () => fileAnswer(new URL("docs_page.css", OWN), "text/css")],
    ["/docs/docs_page.js", () => fileAnswer(new URL("docs_page.js", OWN), "text/javascript")],
    ["/docs/swagger-ui.css", () => packageAnswer("swagger-ui.css", "text/css")],
    ["/docs/swagger-ui.js", () => packageAnswer("swagger-ui-bundle.js", "text/javascript")],
  ];
}

/** The page runs no script but its own, and sends requests to no host but those of the interface. */
function securityPolicy({ production, staging }: BaseAddresses): string {
  const origins = [production, staging]
    .filter((address) => address !== undefined)
    .map((address) => ` ${new URL(address).origin}`);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data:",
    `connect-src 'self'${origins.join("")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

async function packageAnswer(name: string, type: string): Promise<Answer> {
  // The package says itself where it lies; the import loads no more than that.
  const { default: directory } = await import("swagger-ui-dist/absolute-path.js");
  return fileAnswer(`${directory()}/${name}`, type);
}

async function fileAnswer(
  path: string | URL,
  type: string,
  headers: Answer["headers"] = {},
): Promise<Answer> {
  return {
    status: 200,
    contentType: `${type}; charset=utf-8`,
    headers: {
      "cache-control": `public, max-age=${MAX_AGE_SECONDS}`,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      ...headers,
    },
    body: await Deno.readTextFile(path),
  };
}
