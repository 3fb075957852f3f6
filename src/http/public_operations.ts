/** The operations outside of /v1, which need no key. */

import type { Appender } from "eventstore-less/append/appender.ts";
import type { HeadReader } from "eventstore-less/log/head_reader.ts";
import type { PetIndexReader } from "../animals/pet_index_reader.ts";
import type { Logger } from "../runtime/logger.ts";
import { serviceErrorCode } from "eventstore-less/service_error.ts";
import { standbyAwaitedIn, type StoreDamagedError } from "eventstore-less/store/store_errors.ts";
import { docsAssets } from "./docs/docs_page.ts";
import { errorResponse, HttpError } from "../api/errors.ts";
import { type HttpResponse, NEVER_STORED } from "../api/http_response.ts";
import type { ApiRequest } from "../api/api_request.ts";
import { type PublicOperation, unknownPathError } from "./routes.ts";
import { windowAssets } from "./window_page.ts";

export interface PublicDeps {
  appender: Appender;
  heads: HeadReader;
  index: Pick<PetIndexReader, "isReady">;
  /** Whether the store outlives the process. */
  isDurable: boolean;
  /** The address of the interface for clients; by default, the one that a client called. */
  publicUrl: string | undefined;
  /** The address of the staging service. */
  stagingUrl: string | undefined;
  report: Logger;
  /** The damage of the store's file, if a check, a read or a commit has met one. */
  storeDamage: () => StoreDamagedError | undefined;
}

/** Responds to GET and HEAD. */
type Respond = (request: ApiRequest) => HttpResponse | Promise<HttpResponse>;

export type PublicOperations = Record<PublicOperation, Respond> & {
  checkReadiness(): Promise<HttpResponse>;
};

export function publicOperations(deps: PublicDeps): PublicOperations {
  const assets = new Map([...docsAssets(deps), ...windowAssets(deps.report)]);
  const getAsset = (page: string): Respond => ({ request, baseUrl }) => {
    const asset = assets.get(request.path);
    if (asset === undefined) throw unknownPathError(page);
    return asset(request.headers, baseUrl);
  };
  const checkReadiness = async (): Promise<HttpResponse> => {
    const unreadable = await readFaultOf(deps);
    if (unreadable === undefined) deps.report("info", "ready", { ends: "not_ready" });
    else deps.report("warn", "not_ready", { reason: unreadable });
    // The appender has logged this one.
    const { fault } = deps.appender;
    const message = unreadable ?? (fault && `Writes fail: ${fault.message}`);
    if (message !== undefined) return errorResponse(new HttpError("not_ready", message));
    return { status: 200, body: '{"status":"ready"}', headers: NEVER_STORED };
  };
  return {
    // Does not read the store: a platform must not end the process because its store is away for a while.
    checkLiveness: () => ({ status: 200, body: '{"status":"alive"}', headers: NEVER_STORED }),
    checkReadiness,
    getDocs: getAsset("/docs"),
    redirectToDocs,
    redirectBrowserToDocs: redirectToDocs,
    getWindow: getAsset("/window"),
    redirectToWindow: ({ request }) => redirect(request.path, "window"),
  };
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

/** Redirects relatively, in case a proxy adds a path prefix. */
function redirect(path: string, target: string): HttpResponse {
  const location = "../".repeat(path.split("/").length - 2) + target;
  return { status: 302, body: "", headers: { location } };
}
