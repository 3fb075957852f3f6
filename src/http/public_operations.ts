/** The operations outside of /v1, which need no key. */

import { STATUS_CODE } from "@std/http/status";
import type { Appender } from "../append/appender.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { serviceErrorCode } from "../service_error.ts";
import type { StoreDamagedError } from "../store/store_errors.ts";
import { StaticAsset } from "./assets/static_asset.ts";
import { docsAssets } from "./docs/docs_page.ts";
import { type BaseAddresses, describeInterface } from "./docs/openapi.ts";
import { errorResponse, HTTP_ERRORS } from "./errors.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import type { PublicOperation } from "./routes.ts";

export interface PublicDeps {
  /** The addresses of the service for clients. */
  addresses: BaseAddresses;
  appender: Appender;
  heads: HeadReader;
  /** Whether the store outlives the process. */
  isDurable: boolean;
  /** The error that showed that the file of the store is damaged, if a read or a commit has met one. */
  storeDamage: () => StoreDamagedError | undefined;
}

/** Responds to GET and HEAD. */
export type PublicResponder = (requestHeaders: Headers) => HttpResponse | Promise<HttpResponse>;

/** Finds the responder of an operation. Returns `undefined` if the operation is only for browsers. */
export type PublicOperations = (
  operation: PublicOperation,
  path: string,
  requestHeaders: Headers,
) => PublicResponder | undefined;

export function publicOperations(deps: PublicDeps): PublicOperations {
  const docs = docsAssets(deps.addresses);
  const description = new StaticAsset({
    type: "application/json",
    load: () => Promise.resolve(new TextEncoder().encode(describeInterface(deps.addresses))),
  });
  return (operation, path, requestHeaders) => {
    switch (operation) {
      case "checkLiveness":
        return checkLiveness;
      case "checkReadiness":
        return () => checkReadiness(deps);
      case "describeInterface":
        return (headers) => description.respond(headers);
      case "getDocs":
        return (headers) => {
          const asset = docs.get(path);
          if (asset === undefined) throw HTTP_ERRORS.unknownPath("/docs");
          return asset.respond(headers);
        };
      case "getIcon":
        return () => redirectFrom(path, "docs/icon.svg");
      case "redirectBrowserToDocs":
        return isBrowser(requestHeaders) ? () => redirectFrom(path, "docs") : undefined;
      case "redirectToDocs":
        return () => redirectFrom(path, "docs");
    }
  };
}

/**
 * Does not read the store: a platform must not end the process because its store is temporarily unreachable.
 */
function checkLiveness(): HttpResponse {
  return { status: STATUS_CODE.OK, body: '{"status":"alive"}', headers: NEVER_STORED };
}

/**
 * Rejects with `not_ready` (503) if the store is in memory, is damaged, does not respond, does not belong to the
 * service or takes no additions.
 */
async function checkReadiness(
  { appender, heads, isDurable, storeDamage }: PublicDeps,
): Promise<HttpResponse> {
  if (!isDurable) throw HTTP_ERRORS.memoryStore();
  const damage = storeDamage();
  if (damage !== undefined) throw HTTP_ERRORS.storeNotReady(damage.message);
  try {
    await heads.fresh();
  } catch (error) {
    const reason = serviceErrorCode(error) === undefined
      ? "The store does not belong to the service"
      : (error as Error).message;
    throw HTTP_ERRORS.storeNotReady(reason);
  }
  const { fault } = appender;
  // Not thrown, because the fault is already logged.
  if (fault !== undefined) {
    return errorResponse(HTTP_ERRORS.storeNotReady(`Additions fail: ${fault.message}`));
  }
  return { status: STATUS_CODE.OK, body: '{"status":"ready"}', headers: NEVER_STORED };
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
