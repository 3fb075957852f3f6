// The form that asks for an API key. The page then starts again with the key.

import { html, onSubmit } from "./elements.js";
import { restart } from "./session.js";

export function KeyForm() {
  return html`
    <main class="card">
      <form onSubmit=${onSubmit(({ key }) => restart({ apiKey: key }))}>
        <p>See the animals, sell one, and watch what happens. The key stays in this tab.</p>
        <label>API key <input name="key" type="password" autocomplete="off" autofocus /></label>
        <button class="primary">Open</button>
      </form>
    </main>
  `;
}
