/** What a machine that runs the service asks it: whether it lives, and whether to send it requests. */

import { ServiceError } from "../service_error.ts";
import type { HeadReader } from "../log/head_reader.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import { HttpError } from "./errors.ts";

export interface ReadinessDeps {
  heads: HeadReader;
  /** Whether the store outlives the process. */
  isDurable: boolean;
}

/** Asks nothing of the store: a process is not to be ended because its store is away for a while. */
export function answerToHealth(): HttpResponse {
  return { status: 200, body: '{"status":"alive"}', headers: NEVER_STORED };
}

/** Refuses with `not_ready`, which is 503, where the store is in memory or does not answer. */
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
