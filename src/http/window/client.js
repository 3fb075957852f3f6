// Requests to the service of this page, with the key that this tab keeps as `sessionStorage.apiKey`.
const AWAY = [0, 408, 429, 502, 503, 504];
const WRITE_TRIES = 8;
const SILENCE_LIMIT_MS = 40_000;

/** Waits longer after each failure, and at least for the seconds that the service names. */
export function pause(tries, fault) {
  const backOffMs = Math.min(5_000, 250 * 2 ** tries) * (0.5 + Math.random() / 2);
  const ms = Math.max(backOffMs, (fault?.retryAfter ?? 0) * 1_000);
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Rejects with the service's Error. With `onRetry`, repeats a request while the service is away. */
export async function send(path, { headers, ...options }, onRetry) {
  const authorization = `Bearer ${sessionStorage.apiKey}`;
  const init = { ...options, headers: { authorization, ...headers } };
  for (let tries = 1;; tries++) {
    const address = new URL(`v1/${path}`, document.baseURI);
    const response = await fetch(address, init).catch(() => Response.error());
    if (response.ok) return response;
    const error = await response.json().catch(() => ({ message: "The service does not respond" }));
    error.status = response.status;
    error.retryAfter = response.headers.get("retry-after");
    const isLast = options.signal.aborted || (options.method && tries === WRITE_TRIES);
    if (!onRetry || isLast || !AWAY.includes(error.status)) throw error;
    onRetry(error);
    await pause(tries, error);
  }
}

/** Follows the events after a position: calls `take` with the next ones, if any, until the end. */
export async function stream(position, signal, take) {
  const headers = { accept: "text/event-stream" };
  const { body } = await send(`events?lastEventId=${position}`, { headers, signal });
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (let rest = "";;) {
    const timer = setTimeout(() => reader.cancel(), SILENCE_LIMIT_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    const messages = (rest + value).split("\n\n");
    rest = messages.pop();
    take(messages.flatMap((it) => /\ndata: ([^]*)/.exec(it)?.slice(1).map(parse) ?? []));
  }
}

// A category may exceed the integers of JavaScript: it is a text here, and an integer in requests.
export const parse = (text) => JSON.parse(text.replaceAll(/("categoryId":)(-?\d+)/g, '$1"$2"'));
export const bodyOf = (pet) =>
  pet && JSON.stringify(pet).replace(/("categoryId":)"(-?(?:0|[1-9]\d*))"/, "$1$2");
