import type { ForegroundRequest } from "eventstore-less/feed/background_work.ts";

/** A request to the service. */
export interface ApiRequest extends ForegroundRequest {
  request: Request;
  requestId: string;
  path: string;
  search: string;
  /** The address of the interface in links. */
  baseUrl: string;
}
