import type { ForegroundRequest } from "eventstore-less/parts";
import type { ServiceRequest } from "../runtime/service_request.ts";

/** A request to the service. */
export interface ApiRequest extends ForegroundRequest {
  request: ServiceRequest;
  requestId: string;
  /** The address of the interface in links. */
  baseUrl: string;
  /** The name under which metrics count the request, if that is not the one of its operation. */
  measuredAs?: string;
  /** As how many requests it counts for the rate limit; by default as one. */
  requests?: number;
  /** Failures that its response shows among other outcomes. The log has them, too. */
  failures?: unknown[];
}
