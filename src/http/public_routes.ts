/** The routes outside /v1, which need no key: handlers of GET and HEAD, by path. */

import type { HttpResponse } from "./http_response.ts";
import { docsPage } from "./docs/docs_page.ts";
import { type BaseAddresses, describeInterface } from "./docs/openapi.ts";
import { answerToHealth, answerToReadiness, type ReadinessDeps } from "./probes.ts";
import { StaticAsset } from "./static_asset.ts";

export interface PublicDeps extends ReadinessDeps {
  /** Where clients find the service. */
  addresses: BaseAddresses;
}

export type PublicRoute = (requestHeaders: Headers) => HttpResponse | Promise<HttpResponse>;

export interface PublicRoutes {
  get(path: string): PublicRoute | undefined;
}

export function publicRoutes(parts: PublicDeps): PublicRoutes {
  const { page, files } = docsPage(parts.addresses);
  const description = new StaticAsset({
    type: "application/json",
    cacheControl: "no-cache",
    load: () => Promise.resolve(new TextEncoder().encode(describeInterface(parts.addresses))),
  });
  const routes = new Map<string, PublicRoute>([
    ["/healthz", answerToHealth],
    ["/readyz", () => answerToReadiness(parts)],
    ["/openapi.json", (requestHeaders) => description.respond(requestHeaders)],
    ["/", () => ({ status: 302, body: "", headers: { location: "docs" } })],
    ["/docs", (requestHeaders) => page.respond(requestHeaders)],
  ]);
  return { get: (path) => routes.get(path) ?? files.find(path) };
}
