/** The liveness and readiness probes. */

import { STATUS_CODE } from "@std/http/status";
import type { Appender } from "../append/appender.ts";
import { serviceErrorCode } from "../service_error.ts";
import type { HeadReader } from "../log/head_reader.ts";
import type { StoreDamagedError } from "../store/store_errors.ts";
import { type HttpResponse, NEVER_STORED } from "./http_response.ts";
import { errorResponse, HTTP_ERRORS } from "./errors.ts";

export interface ReadinessDeps {
  appender: Appender;
  heads: HeadReader;
  /** Whether the store outlives the process. */
  isDurable: boolean;
  /** The error that showed that the file of the store is damaged, if a read or a commit has met one. */
  storeDamage: () => StoreDamagedError | undefined;
}

/**
 * Does not read the store: a platform must not end the process because its store is temporarily unreachable.
 */
export function checkLiveness(): HttpResponse {
  return { status: STATUS_CODE.OK, body: '{"status":"alive"}', headers: NEVER_STORED };
}

/**
 * Rejects with `not_ready` (503) if the store is in memory, is damaged, does not respond, does not belong to the
 * service or takes no additions.
 */
export async function checkReadiness(
  { appender, heads, isDurable, storeDamage }: ReadinessDeps,
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
