import type { ApiRequest } from "../api/api_request.ts";
import type { HttpResponse } from "../api/http_response.ts";

/** An operation outside of the interface, which needs no API key and is not described. */
export interface PublicOperation {
  kind: "public";
  /** Its name in metrics, which several may share. */
  id: string;
  method: "GET";
  /** The whole path. Its last segment may be a parameter. */
  path: string;
  /** Set if it is there only for clients that ask for HTML. */
  isForBrowsers?: true;
  respond(request: ApiRequest): HttpResponse | Promise<HttpResponse>;
}
