import { STATUS_CODE } from "@std/http/status";
import type { HttpResponse } from "./http_response.ts";
import { docsPage } from "./docs/docs_page.ts";
import { type BaseAddresses, describeInterface } from "./docs/openapi.ts";
import { checkLiveness, checkReadiness, type ReadinessDeps } from "./probes.ts";
import type { PublicOperation } from "./routes.ts";
import { StaticAsset } from "./static_asset.ts";

export interface PublicDeps extends ReadinessDeps {
  /** The addresses of the service for clients. */
  addresses: BaseAddresses;
}

/** Responds to GET and HEAD. */
export type PublicResponder = (requestHeaders: Headers) => HttpResponse | Promise<HttpResponse>;

export interface PublicOperations {
  /** The responder of an operation. Returns `undefined` if `path` names a file that does not exist. */
  find(operation: PublicOperation, path: string): PublicResponder | undefined;
}

/** The operations outside of /v1, which need no key. */
export function publicOperations(deps: PublicDeps): PublicOperations {
  const { page, files } = docsPage(deps.addresses);
  const description = new StaticAsset({
    type: "application/json",
    cacheControl: "no-cache",
    load: () => Promise.resolve(new TextEncoder().encode(describeInterface(deps.addresses))),
  });
  const responders: Record<Exclude<PublicOperation, "getDocsFile">, PublicResponder> = {
    checkLiveness,
    checkReadiness: () => checkReadiness(deps),
    describeInterface: (requestHeaders) => description.respond(requestHeaders),
    redirectToDocs: () => ({
      status: STATUS_CODE.Found,
      body: "",
      headers: { location: "docs" },
    }),
    getDocsPage: (requestHeaders) => page.respond(requestHeaders),
  };
  return {
    find: (operation, path) =>
      operation === "getDocsFile" ? files.find(path) : responders[operation],
  };
}
