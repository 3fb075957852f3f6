// The page: its header, its parts and its messages.

import { Activity } from "./activity.js";
import { AnimalList } from "./animal_list.js";
import { AnimalPage } from "./animal_page.js";
import { Dialog } from "./dialog.js";
import { html } from "./elements.js";
import { Icon } from "./icons.js";
import { KeyForm } from "./key_form.js";
import { formatDate } from "./relative_time.js";
import { restart } from "./session.js";
import { setState } from "./state.js";
import { Toolbar } from "./toolbar.js";

/** Returns the elements of that state. The row of the animal `focusedId` is drawn, wherever it is. */
export function Page(state, focusedId) {
  const hasKey = state.apiKey !== undefined;
  return html`
    ${Header(state)} ${hasKey ? Store(state, focusedId) : KeyForm(state)}
    <div class="messages">
      ${state.problem && Problem(state)}
      <p class="toast" role="status">${state.toast}</p>
    </div>
    <dialog aria-labelledby="title">${state.dialog && Dialog(state)}</dialog>
  `;
}

function Header(state) {
  return html`
    <header>
      <img src="docs/icon.svg" alt="" width="28" height="28" />
      <h1 class="title">Animal Store</h1>
      ${state.apiKey !== undefined && Connection(state)}
      <span class="space"></span>
      ${state.key && KeyName(state.key)}
      <a href="docs">API reference</a>
      ${state.apiKey !== undefined &&
        html`<button class="quiet" onClick=${() => restart({})}>Sign out</button>`}
    </header>
  `;
}

/** A dot, which turns amber and gets words while the service does not respond. */
function Connection({ connectionProblem }) {
  if (connectionProblem === "") {
    return html`
      <p class="connection" role="status" title="Connected"><span class="unseen">Connected</span></p>
    `;
  }
  return html`
    <p class="connection away" role="status">${connectionProblem ?? "Connecting …"}</p>
  `;
}

function KeyName({ label, readOnly, expiresAt }) {
  const end = expiresAt === undefined
    ? ""
    : `, which expires on ${formatDate(new Date(expiresAt))}`;
  return html`
    <span class="key" title=${`The label of your API key${end}`}>
      Key <bdi>${label}</bdi>${readOnly && html`
        <span class="pill none">Read only</span>
      `}
    </span>
  `;
}

function Store(state, focusedId) {
  return html`
    <main>
      ${state.animal === undefined ? Animals(state, focusedId) : AnimalPage(state)}
      ${Activity(state)}
    </main>
  `;
}

function Animals(state, focusedId) {
  return html`<section aria-label="Animals">${Toolbar(state)} ${
    AnimalList(state, focusedId)
  }</section>`;
}

function Problem({ problem }) {
  return html`
    <p class="problem" role="alert">
      <span>${problem}</span>
      <button
        class="quiet"
        aria-label="Close this message"
        onClick=${() => setState({ problem: undefined })}
      >
        ${Icon("close")}
      </button>
    </p>
  `;
}
