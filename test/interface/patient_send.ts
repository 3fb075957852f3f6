/** Sends a request again after each 429, because an operator may limit the requests of a key. */

/** After these, the 429 is the response. */
const ATTEMPTS = 100;

const LONGEST_PAUSE_SECONDS = 60;

/** A pause ends with `signal`, and then `send` rejects. */
export function patientSend(send: typeof fetch, signal?: AbortSignal): typeof fetch {
  return async (input, init) => {
    for (let attempt = 1;; attempt++) {
      const response = await send(input, init);
      if (response.status !== 429 || attempt === ATTEMPTS) return response;
      await response.body?.cancel();
      await pause(secondsOf(response.headers), signal);
    }
  };
}

/** A proxy may send a date, or nothing. */
function secondsOf(headers: Headers): number {
  const field = headers.get("retry-after") ?? "";
  const seconds = /^\d+$/.test(field) ? Number(field) : 1;
  return Math.min(seconds, LONGEST_PAUSE_SECONDS);
}

function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1_000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    }, { once: true });
  });
}
