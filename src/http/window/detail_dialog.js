// All that the page knows about one animal.

import { Events } from "./activity.js";
import { readDetail } from "./animals.js";
import { showDialog } from "./dialog.js";
import { html } from "./elements.js";
import { attempt } from "./session.js";
import { describePet } from "./statuses.js";

export function showDetailDialog(pet) {
  showDialog({ title: pet.name, content: Detail, no: "Done" }, { pet, etag: undefined });
  attempt(readDetail);
}

function Detail({ detail, events, openedAt }) {
  const { pet, etag } = detail;
  const changes = events.filter(({ id, data }) => data.id === pet.id && id > openedAt);
  return html`
    <p>Id ${pet.id}: ${describePet(pet)}<br />ETag ${etag}</p>
    <h3>Changes since this page was opened: ${changes.length}</h3>
    ${Events(changes)}
  `;
}
