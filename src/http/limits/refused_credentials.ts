import { redactKeys } from "../../runtime/redact_keys.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";

/** Maximum length of the logged part of an `X-Forwarded-For` header, in characters. */
const FORWARDED_FOR_LENGTH = 100;

/**
 * Logs the refusal of an invalid key. A request without a key guesses none, so it is not logged. `address` is that of the
 * peer, or of the client behind a trusted proxy.
 */
export function reportRefusedCredentials(
  report: Logger,
  headers: RequestHeaders,
  address: string,
): void {
  report("warn", "credentials_refused", { address, forwardedFor: forwardedForOf(headers) });
}

/** The last element of `X-Forwarded-For`, which the nearest proxy adds. A client can forge all elements before it. */
function forwardedForOf(headers: RequestHeaders): string | undefined {
  const element = headers.get("x-forwarded-for")?.split(",").at(-1);
  const text = element?.replace(/[^\x20-\x7e]/g, "").trim();
  // Redaction does not recognise part of a key, so it comes before the cut.
  return text && redactKeys(text).slice(-FORWARDED_FOR_LENGTH);
}
