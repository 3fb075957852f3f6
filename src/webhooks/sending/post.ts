import { Buffer } from "node:buffer";
import { type IncomingMessage, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";
import { type Attempt, AttemptFailedError, isConfirmed } from "./attempt.ts";

/** A response is refused if so many bytes have come without the end of its headers. */
const HEADERS_LIMIT_BYTES = 16 * 1024;

/** How much of the body of a response is kept, in bytes. */
const ANSWER_LIMIT_BYTES = 1024;

/** How much is read for it, in bytes: chunks may have extensions, which Deno does not limit. */
const READ_LIMIT_BYTES = 16 * 1024;

type Response = Pick<Attempt, "status" | "answer" | "retryAfterMs">;

type CodedError = Error & { code?: string };

/**
 * Sends one request on a socket, and resolves to its response. The caller then destroys the socket. A date in `Retry-After`
 * is compared with `now()`. Rejects with an `AttemptFailedError`.
 */
export function post(
  socket: Socket,
  url: URL,
  { headers, body, now }: { headers: Record<string, string>; body: string; now: () => number },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const bytes = Buffer.from(body);
    const request = httpRequest({
      method: "POST",
      path: url.pathname + url.search,
      headers: { ...headers, host: url.host, "content-length": bytes.length },
      createConnection: () => socket,
    });
    const fail = (code: "connection_failed" | "malformed_response") =>
      reject(new AttemptFailedError(code));
    let isResponding = false;
    request.once("response", (message) => {
      isResponding = true;
      const head = { status: message.statusCode!, ...retryAfterOf(message, now) };
      // A receiver that has confirmed need not end its body.
      if (isConfirmed(head)) resolve(head);
      else readAnswer(message, socket, (answer) => resolve({ ...head, ...answer }));
    });
    // The request names no other protocol, so a response must not change to one.
    request.once("upgrade", () => fail("malformed_response"));
    request.once("socket", () =>
      afterBytes(socket, HEADERS_LIMIT_BYTES, () => {
        if (!isResponding) fail("malformed_response");
      }));
    request.on("error", ({ code = "" }: CodedError) => {
      if (!isResponding) fail(code.startsWith("HPE_") ? "malformed_response" : "connection_failed");
    });
    request.once("close", () => {
      if (!isResponding) fail("connection_failed");
    });
    request.end(bytes);
  });
}

/** Calls `done` once, with the beginning of the body, or without an answer if it is empty. */
function readAnswer(
  message: IncomingMessage,
  socket: Socket,
  done: (response: Pick<Attempt, "answer">) => void,
): void {
  let bytes = Buffer.alloc(0);
  const end = () => {
    // Leaves out a character that was cut.
    const answer = new TextDecoder().decode(bytes, { stream: true });
    done(answer === "" ? {} : { answer });
  };
  message.on("data", (chunk: Buffer) => {
    const rest = ANSWER_LIMIT_BYTES - bytes.length;
    bytes = Buffer.concat([bytes, chunk.subarray(0, rest)]);
    if (bytes.length === ANSWER_LIMIT_BYTES) end();
  });
  message.once("error", end);
  message.once("close", end);
  // The message has its last bytes only in a later turn.
  afterBytes(socket, READ_LIMIT_BYTES, () => void setImmediate(end));
}

/** Calls `act` for each packet that comes after so many bytes. */
function afterBytes(socket: Socket, limit: number, act: () => void): void {
  let length = 0;
  socket.on("data", (chunk: Buffer) => {
    length += chunk.length;
    if (length > limit) act();
  });
}

/** The time that `Retry-After` names, in seconds or as a date. Without a valid one, it is absent. */
function retryAfterOf(
  { headers }: IncomingMessage,
  now: () => number,
): Pick<Attempt, "retryAfterMs"> {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d{1,10}$/.test(text)) return { retryAfterMs: Number(text) * 1_000 };
  // Dates of HTTP begin with a day. Programs take many other texts for dates.
  const date = /^[A-Z]\w+, /.test(text) ? Date.parse(text) : NaN;
  return isNaN(date) ? {} : { retryAfterMs: Math.max(0, date - now()) };
}
