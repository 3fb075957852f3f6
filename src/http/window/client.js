// Requests to the service of this page, with the API key that this tab keeps in `sessionStorage.apiKey`.

const AWAY = [0, 408, 429, 502, 503, 504];
const WRITE_TRIES = 8;
const SILENCE_LIMIT_MS = 40_000;

/** A new Idempotency-Key. On plain HTTP to another machine, there is no `crypto.randomUUID()`. */
export const newIdempotencyKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** Rejects with the service's message and its `status`. With `onRetry`, sends again while the service is away. */
export async function send(path, { headers, ...options }, onRetry) {
  const authorization = `Bearer ${sessionStorage.apiKey}`;
  const init = { ...options, headers: { authorization, ...headers } };
  for (let tries = 1;; tries++) {
    const response = await fetch(new URL(`v1/${path}`, document.baseURI), init).catch((error) => {
      if (options.signal.aborted) throw error;
      return Response.error();
    });
    if (response.ok) return response;
    const { status } = response;
    const words = status === 0 ? "The service does not respond" : `The response is ${status}`;
    const { message = words } = await response.json().catch(() => ({}));
    const retryAfter = response.headers.get("retry-after") ?? 0;
    const error = Object.assign(new Error(message), { status, retryAfter });
    const isLast = options.method !== undefined && tries === WRITE_TRIES;
    if (onRetry === undefined || isLast || !AWAY.includes(status)) throw error;
    onRetry(error);
    await pauseAfter(tries, error);
  }
}

export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits longer after each failure, and at least as long as the service asks. */
export function pauseAfter(tries, { retryAfter = 0 } = {}) {
  const backOffMs = Math.min(5_000, 250 * 2 ** tries) * (0.5 + Math.random() / 2);
  return wait(Math.max(backOffMs, retryAfter * 1_000));
}

/** The messages `{ id, event }` after an event, as they come, in groups. */
export async function* stream(lastEventId, signal) {
  const headers = { accept: "text/event-stream" };
  const { body } = await send(`events?lastEventId=${lastEventId}`, { headers, signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let rest = "";;) {
      const part = await Promise.race([reader.read(), wait(SILENCE_LIMIT_MS)]);
      if (part === undefined) throw new Error("The stream is silent");
      if (part.done) return;
      const messages = (rest + part.value).split("\n\n");
      rest = messages.pop();
      yield messages.map((text) => ({
        id: /^id: (\S+)/m.exec(text)?.[1],
        event: parse(/\ndata: ([^]*)/.exec(text)?.[1] ?? "null"),
      }));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Keeps a category as text, because it may exceed the integers of JavaScript. */
const parse = (text) => JSON.parse(text.replaceAll(/("categoryId":)(-?\d+)/g, '$1"$2"'));
export const read = async (response) => parse(await response.text());

/** The JSON of an animal. A category that is no integer stays text, and the service says what is wrong. */
export const bodyOf = (pet) =>
  JSON.stringify(pet).replace(/("categoryId":)"(-?(?:0|[1-9]\d*))"/, "$1$2");

/** The query of the next page or batch. The service may be known by another name than that in the link. */
export const nextOf = ({ headers }) =>
  /<[^?]*(\?[^>]*)>; rel="next"/.exec(headers.get("link"))?.[1];
