// The API key of this tab, which is `sessionStorage.apiKey`, and the actions that may fail with it.

import { redraw, setState, state } from "./state.js";

/** Takes the key from the address or from this tab. It disappears from the address. */
export function takeKey() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  history.replaceState(null, "", location.pathname + location.search);
  return fragment.get("key") ?? sessionStorage.apiKey;
}

/** A key is often pasted with its scheme. */
export function keepKey(text) {
  const apiKey = text.replaceAll(/^\s*bearer\s+|[^!-~]/gi, "");
  sessionStorage.apiKey = apiKey;
  state.apiKey = apiKey;
}

/** Loads the page again, with a key or without one. The new page shows the message. */
export function restart({ message, apiKey }) {
  sessionStorage.removeItem("apiKey");
  if (apiKey) sessionStorage.apiKey = apiKey;
  history.replaceState({ message }, "");
  location.reload();
}

/** Resolves to the result of an action. If the action fails, shows why and resolves to `undefined`. */
export async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    showFailure(error);
  } finally {
    redraw();
  }
}

function showFailure({ status, message }) {
  switch (status) {
    case 401:
      restart({ message });
      break;
    case 410:
      // The service has another log, so the page reads everything again.
      restart({ message, apiKey: state.apiKey });
      break;
    default:
      setState({ message });
  }
}
