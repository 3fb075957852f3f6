/** The text of a list without animals. */

import type { JSX } from "preact";
import { openAddDialog } from "./add_dialog.tsx";
import { wanted } from "./animals.ts";
import { isFiltered } from "./filter.ts";
import { mayWrite } from "./key_info.ts";
import { showAllAnimals } from "./navigation.ts";

export function EmptyList(): JSX.Element {
  return isFiltered(wanted.value) ? <NoneFound /> : <EmptyStore />;
}

function NoneFound(): JSX.Element {
  return (
    <div class="empty">
      <p>No such animals.</p>
      <p>
        <button type="button" onClick={showAllAnimals}>Show all animals</button>
      </p>
    </div>
  );
}

function EmptyStore(): JSX.Element {
  return (
    <div class="empty">
      <h2 class="title">No animals yet</h2>
      {mayWrite.value && (
        <>
          <p>
            <button type="button" class="primary" onClick={openAddDialog}>
              Add your first animal
            </button>
          </p>
          <p class="soft small">
            Or let a program add it, with your key in <code>KEY</code>:
          </p>
          <pre tabIndex={0}>{curlLine()}</pre>
        </>
      )}
    </div>
  );
}

function curlLine(): string {
  const { href } = new URL("v1/pets", document.baseURI);
  return [
    `curl ${href} -H "Authorization: Bearer $KEY" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"name":"Rex","categoryId":7,"status":"available"}'`,
  ].join("\n");
}
