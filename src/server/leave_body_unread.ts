import type { Runtime } from "../runtime/runtime.ts";
import { abandonedBodies, isBodyBounded } from "../http/requests/request_body.ts";

/** Delay between a response and the cancellation of its abandoned request body, in milliseconds. */
const CANCEL_BODY_AFTER_MS = 100;

/**
 * Methods whose body Deno hides from the handler but still reads to its end. We found no way to stop this for
 * HEAD, so the proxy in front must limit the bodies of HEAD requests.
 */
const BODY_HIDDEN: ReadonlySet<string> = new Set(["GET", "CONNECT"]);

/** The error that ends a response and its connection. */
export const ENDED = new Error("The connection was closed because the request body has no limit");

/**
 * Creates a response without a body that ends its connection. Only an error of the response's stream stops
 * Deno from reading a request body that the handler cannot see. The error ends the stream before its first
 * byte.
 */
function endedResponse(status: number): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(ENDED) });
  return new Response(body, { status });
}

/**
 * Returns an error response in a form that keeps Deno from reading the rest of the request's body, which may be
 * endless.
 *
 * A body with a declared length within the limit is left to Deno, which then keeps the connection open. Deno
 * would read any other body to its end, whatever the response. Trials with Deno 2.9.6 found two ways out:
 * 1. If nothing was read: access the getter `request.body`, and respond with a stream. Deno then closes the
 *    connection.
 * 2. If a part was read: keep the body locked by its reader, so that Deno cannot read on. Cancel through that
 *    reader after the response is sent; otherwise the file descriptor leaks.
 */
export async function leaveBodyUnread(
  request: Request,
  response: Response,
  runtime: Runtime,
): Promise<Response> {
  if (BODY_HIDDEN.has(request.method)) {
    return isBodyBounded(request.headers) ? response : endedResponse(response.status);
  }
  const reader = abandonedBodies.get(request);
  if (reader !== undefined) {
    runtime.setTimer(CANCEL_BODY_AFTER_MS, () => void reader.cancel().catch(() => {}));
    return response;
  }
  if (isBodyBounded(request.headers) || request.bodyUsed) return response;
  // This touches the body, as the first way requires.
  if (request.body === null) return response;
  const bytes = await response.bytes();
  const { status, headers } = response;
  headers.set("content-length", String(bytes.length));
  return new Response(new Blob([bytes]).stream(), { status, headers });
}
