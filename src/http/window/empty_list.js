// What the list says instead of animals.

import { showAddDialog } from "./add_dialog.js";
import { html } from "./elements.js";
import { showList } from "./navigation.js";

const NO_FILTER = { status: "", categoryId: "", name: "" };

export function EmptyList({ filter, key }) {
  const isFiltered = Object.values(filter).some((value) => value !== "");
  return isFiltered ? NoneFound() : EmptyStore(key);
}

function NoneFound() {
  return html`
    <div class="empty">
      <p>No such animals.</p>
      <p><button onClick=${() => showList(NO_FILTER)}>Show all animals</button></p>
    </div>
  `;
}

function EmptyStore(key) {
  if (key?.readOnly !== false) {
    return html`
      <div class="empty">
        <p>No animals yet.</p>
      </div>
    `;
  }
  return html`
    <div class="empty">
      <h2 class="title">No animals yet</h2>
      <p><button class="primary" onClick=${showAddDialog}>Add your first animal</button></p>
      <p class="soft small">Or let a program add it, with your key in <code>KEY</code>:</p>
      <pre tabindex="0">${curlLine()}</pre>
    </div>
  `;
}

function curlLine() {
  const { href } = new URL("v1/pets", document.baseURI);
  return [
    `curl ${href} -H "Authorization: Bearer $KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"name":"Rex","categoryId":7,"status":"available"}'`,
  ].join("\n");
}
