// The API key of this tab, which is `sessionStorage.apiKey`, and the actions that may fail with it.

import { messageOf } from "./pet_fields.js";
import { redraw, setState, state } from "./state.js";

/** A key in an address stays in the history of the browser, so it is only for development. */
const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

const NOT_LOCAL =
  "This page takes no key from its address, because the history of the browser keeps it. Paste the key instead.";

/**
 * Returns what this tab and the address say: the key to use, another one that the reader may want instead, and why the
 * address was ignored. The key disappears from the address.
 */
export function takeKeys() {
  const own = sessionStorage.apiKey;
  const linked = new URLSearchParams(location.hash.slice(1)).get("key");
  if (location.hash !== "") history.replaceState(null, "", location.pathname + location.search);
  if (linked === null) return { apiKey: own };
  if (!LOCAL_HOSTS.includes(location.hostname)) return { apiKey: own, problem: NOT_LOCAL };
  const keyFromAddress = cleanKey(linked);
  if (own === undefined) return { apiKey: keyFromAddress };
  return { apiKey: own, other: keyFromAddress === own ? undefined : keyFromAddress };
}

export function keepKey(apiKey) {
  sessionStorage.apiKey = apiKey;
  state.apiKey = apiKey;
}

/** A key is often pasted with its scheme. */
function cleanKey(text) {
  return text.replaceAll(/^\s*bearer\s+|[^!-~]/gi, "");
}

/** Loads the page again, with a key or without one. The new page shows the message. */
export function restart({ message, apiKey }) {
  sessionStorage.removeItem("apiKey");
  if (apiKey) sessionStorage.apiKey = cleanKey(apiKey);
  history.replaceState({ message }, "");
  location.reload();
}

/** Carries out what the reader asks for. With its success, an earlier failure is over. See {@linkcode run}. */
export function attempt(action, showError = showProblem) {
  return run(async () => {
    const result = await action();
    state.problem = undefined;
    return result;
  }, showError);
}

/** Resolves to the result of an action. If the action fails, shows why and resolves to `undefined`. */
export async function run(action, showError = showProblem) {
  try {
    return await action();
  } catch (error) {
    handleError(error, showError);
  } finally {
    redraw();
  }
}

function handleError(error, showError) {
  switch (error.status) {
    case 401:
      restart({ message: error.message });
      break;
    case 410:
      // The service has another log, so the page reads everything again.
      restart({ apiKey: state.apiKey });
      break;
    default:
      showError(error);
  }
}

export function showProblem(error) {
  setState({ problem: messageOf(error) });
}
