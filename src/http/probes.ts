/** The liveness and readiness probes. */

import { ServiceError } from "../service_error.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import { HttpError } from "./errors.ts";

export interface ReadinessDeps {
  heads: HeadReader;
  /** Whether the store outlives the process. */
  isDurable: boolean;
}

/**
 * Does not read the store: a platform must not end the process because its store is temporarily unreachable.
 */
export function answerToHealth(): HttpResponse {
  return { status: 200, body: '{"status":"alive"}', headers: NEVER_STORED };
}

/** Rejects with `not_ready` (503) if the store is in memory, does not respond or is not the service's own. */
export async function answerToReadiness(
  { heads, isDurable }: ReadinessDeps,
): Promise<HttpResponse> {
  if (!isDurable) {
    throw new HttpError("not_ready", "The store is in memory and ends with the process");
  }
  try {
    await heads.fresh();
  } catch (error) {
    const reason = error instanceof ServiceError
      ? error.message
      : "The store is not the service's own";
    throw new HttpError("not_ready", reason);
  }
  return { status: 200, body: '{"status":"ready"}', headers: NEVER_STORED };
}
