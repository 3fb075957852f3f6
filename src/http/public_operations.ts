/** The operations outside of /v1, which need no key. */

import { serviceErrorCode } from "eventstore-less";
import type { Appender, BackgroundWork, HeadReader } from "eventstore-less/parts";
import { standbyAwaitedIn, type StoreDamagedError } from "eventstore-less/store";
import type { PetIndexReader } from "../animals/pet_index_reader.ts";
import type { Logger } from "../runtime/logger.ts";
import { type DocsAsset, docsAssets } from "./docs/docs_page.ts";
import { errorResponse, HttpError } from "../api/errors.ts";
import { type HttpResponse, NEVER_STORED } from "../api/http_response.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { BASE_PATH } from "../api/base_path.ts";
import type { OperationDescription } from "../api/operation.ts";
import type { PublicOperation } from "./public_operation.ts";
import { unknownPathError } from "./routes.ts";
import { windowAssets } from "./window_page.ts";

export interface PublicDeps {
  appender: Appender;
  background: BackgroundWork;
  heads: HeadReader;
  index: Pick<PetIndexReader, "isReady">;
  /** Whether the store outlives the process. */
  isDurable: boolean;
  /** The operations of the interface, for its description. */
  operations: readonly OperationDescription[];
  /** The address of the interface for clients; by default, the one that a client called. */
  publicUrl: string | undefined;
  /** The address of the staging service. */
  stagingUrl: string | undefined;
  report: Logger;
  /** The damage of the store's file, if a check, a read or a commit has met one. */
  storeDamage: () => StoreDamagedError | undefined;
}

export function publicOperations(deps: PublicDeps): PublicOperation[] {
  const docs = docsAssets(deps);
  const getDocs = assetOf("/docs", (path) => docs.get(path));
  const getWindow = assetOf("/window", windowAssets(deps.report));
  return [
    publicOperation("checkLiveness", "/healthz", checkLiveness),
    publicOperation("checkReadiness", "/readyz", (exchange) => {
      // It may wait for the fill of the index, which has turns of the background work.
      deps.background.requestLeft(exchange);
      return checkReadiness(deps);
    }),
    publicOperation("getDocs", "/openapi.json", getDocs),
    publicOperation("redirectToWindow", "/", redirectToWindow),
    forBrowsers(publicOperation("redirectBrowserToDocs", BASE_PATH, redirectToDocs)),
    forBrowsers(publicOperation("redirectBrowserToDocs", `${BASE_PATH}/`, redirectToDocs)),
    publicOperation("redirectToDocs", "/favicon.ico", redirectToDocs),
    publicOperation("getDocs", "/docs", getDocs),
    publicOperation("redirectToDocs", "/docs/", redirectToDocs),
    publicOperation("getDocs", "/docs/{file}", getDocs),
    publicOperation("getWindow", "/window", getWindow),
    publicOperation("redirectToWindow", "/window/", redirectToWindow),
    publicOperation("getWindow", "/window/{file}", getWindow),
  ];
}

function assetOf(
  page: string,
  find: (path: string) => DocsAsset | undefined,
): PublicOperation["respond"] {
  return ({ request, baseUrl }) => {
    const asset = find(request.path);
    if (asset === undefined) throw unknownPathError(page);
    return asset(request.headers, baseUrl);
  };
}

function publicOperation(
  id: string,
  path: string,
  respond: PublicOperation["respond"],
): PublicOperation {
  return { kind: "public", id, method: "GET", path, respond };
}

function forBrowsers(operation: PublicOperation): PublicOperation {
  return { ...operation, isForBrowsers: true };
}

/** Does not read the store: a platform must not end the process because its store is away for a while. */
function checkLiveness(): HttpResponse {
  return { status: 200, body: '{"status":"alive"}', headers: NEVER_STORED };
}

/** Resolves to the response of `/readyz`. */
export async function checkReadiness(deps: PublicDeps): Promise<HttpResponse> {
  const unreadable = await readFaultOf(deps);
  if (unreadable === undefined) deps.report("info", "ready", { ends: "not_ready" });
  else deps.report("warn", "not_ready", { reason: unreadable });
  // The appender has logged this one.
  const { fault } = deps.appender;
  const message = unreadable ?? (fault && `Writes fail: ${fault.message}`);
  if (message !== undefined) return errorResponse(new HttpError("not_ready", message));
  return { status: 200, body: '{"status":"ready"}', headers: NEVER_STORED };
}

/** Resolves to the reason if the service cannot read a store that lasts, or has not filled the index of the animals. */
async function readFaultOf({ heads, index, isDurable, storeDamage }: PublicDeps) {
  if (!isDurable) return "The store is in memory and is lost when the process ends";
  const damage = storeDamage();
  if (damage !== undefined) return damage.message;
  try {
    const { head } = await heads.fresh();
    if (!await index.isReady(head)) return "The index of the animals is still being filled";
  } catch (error) {
    const awaited = standbyAwaitedIn(error);
    if (awaited !== undefined) return `The store does not answer: ${awaited.message}`;
    const isOurs = serviceErrorCode(error) !== undefined;
    return isOurs ? (error as Error).message : "The store does not belong to the service";
  }
}

/** Redirects to the reference or its icon. */
function redirectToDocs({ request: { path } }: ApiRequest): HttpResponse {
  return redirect(path, path === "/favicon.ico" ? "docs/icon.svg" : "docs");
}

function redirectToWindow({ request }: ApiRequest): HttpResponse {
  return redirect(request.path, "window");
}

/** Redirects relatively, in case a proxy adds a path prefix. */
function redirect(path: string, target: string): HttpResponse {
  const location = "../".repeat(path.split("/").length - 2) + target;
  return { status: 302, body: "", headers: { location } };
}
