// The form that asks for an API key. The page then starts again with the key.

import { html, onSubmit } from "./elements.js";
import { Field } from "./field.js";
import { restart } from "./session.js";
import { setState } from "./state.js";

export function KeyForm({ keyProblem }) {
  return html`
    <main class="card">
      <h2 class="title">Open the store</h2>
      <p class="soft">See the animals, sell one, and watch what happens.</p>
      <form onSubmit=${onSubmit(open)} onInput=${() => setState({ keyProblem: undefined })}>
        ${Field({
          label: "API key",
          name: "key",
          type: "password",
          fault: keyProblem,
          autofocus: true,
        })}
        <p class="soft small">The key stays in this tab, and is forgotten when the tab closes.</p>
        <p class="buttons"><button class="primary">Open</button></p>
      </form>
    </main>
  `;
}

function open({ key }) {
  if (key.trim() === "") setState({ keyProblem: "The API key is missing" });
  else restart({ apiKey: key });
}
