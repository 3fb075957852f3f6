import { STATUS_CODE } from "@std/http/status";
import type { HttpResponse } from "./http_response.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { type DocsPages, docsPages } from "./docs/docs_pages.ts";
import { type BaseAddresses, describeInterface } from "./docs/openapi.ts";
import { HTTP_ERRORS } from "./errors.ts";
import { checkLiveness, checkReadiness, type ReadinessDeps } from "./probes.ts";
import type { PublicOperation } from "./routes.ts";
import { StaticAsset } from "./assets/static_asset.ts";

export interface PublicDeps extends ReadinessDeps {
  /** The addresses of the service for clients. */
  addresses: BaseAddresses;
  runtime: Runtime;
}

/** Responds to GET and HEAD. */
export type PublicResponder = (requestHeaders: Headers) => HttpResponse | Promise<HttpResponse>;

export interface PublicOperations {
  /** The responder of an operation. Returns `undefined` if the operation is only for browsers. */
  find(
    operation: PublicOperation,
    path: string,
    requestHeaders: Headers,
  ): PublicResponder | undefined;
}

/** The operations outside of /v1, which need no key. */
export function publicOperations(deps: PublicDeps): PublicOperations {
  const docs = docsPages(deps.addresses, deps.runtime);
  const description = new StaticAsset({
    type: "application/json",
    cacheControl: "no-cache",
    load: () => Promise.resolve(new TextEncoder().encode(describeInterface(deps.addresses))),
  });
  const responders: Record<
    Exclude<PublicOperation, "getDocsFile" | "redirectToDocs" | "redirectBrowserToDocs">,
    PublicResponder
  > = {
    checkLiveness,
    checkReadiness: () => checkReadiness(deps),
    describeInterface: (requestHeaders) => description.respond(requestHeaders),
    getDocsPage: () => docs.reference(),
    getIcon: async () => redirectFrom("/favicon.ico", await docs.iconAddress()),
  };
  return {
    find(operation, path, requestHeaders) {
      switch (operation) {
        case "getDocsFile":
          return findDocsFile(docs, path);
        case "redirectBrowserToDocs":
          return isBrowser(requestHeaders) ? () => redirectFrom(path, "docs") : undefined;
        case "redirectToDocs":
          return () => redirectFrom(path, "docs");
        default:
          return responders[operation];
      }
    },
  };
}

/** The pages are for people, so an unknown one gets 404 without a key, and a slash at the end is removed. */
function findDocsFile(docs: DocsPages, path: string): PublicResponder {
  const file = path.replace(/\/$/, "");
  const respond = docs.find(file);
  if (respond === undefined) {
    return () => {
      throw HTTP_ERRORS.unknownPath("/docs");
    };
  }
  return file === path ? respond : () => redirectFrom(path, file.slice(1));
}

/** Whether a browser opens the address as a page. Clients of the interface do not ask for HTML. */
function isBrowser(requestHeaders: Headers): boolean {
  return /\btext\/html\b/i.test(requestHeaders.get("accept") ?? "");
}

/** Redirects to an address under the root of the service. It is relative, in case a proxy adds a path prefix. */
function redirectFrom(path: string, address: string): HttpResponse {
  const location = "../".repeat(path.split("/").length - 2) + address;
  return { status: STATUS_CODE.Found, body: "", headers: { location } };
}
