// The page of one animal: how it is now, and its whole history.

import { Status } from "./animal_row.js";
import { loadOlder } from "./animal_history.js";
import { addressOf } from "./address.js";
import { askToRemove } from "./change_animal.js";
import { html, onFollow } from "./elements.js";
import { Icon } from "./icons.js";
import { KIND_WORDS, kindOf } from "./kinds.js";
import { Name } from "./names.js";
import { showListAgain } from "./navigation.js";
import { FIELD_LABELS } from "./pet_fields.js";
import { ExactTime, RelativeTime } from "./relative_time.js";
import { StatusPill } from "./status_select.js";
import { describePet, STATUS_LABELS } from "./statuses.js";

export function AnimalPage(state) {
  const { animal, filter } = state;
  return html`
    <article aria-busy=${animal.isLoading}>
      <a class="back" href=${addressOf({ filter })} onClick=${onFollow(showListAgain)}>
        ${Icon("back")} All animals
      </a>
      ${animal.isUnknown ? Unknown() : Known(state)}
    </article>
  `;
}

function Unknown() {
  return html`
    <h2 class="title" id="animal-title" tabindex="-1">There is no such animal</h2>
    <p class="soft">It may have been removed.</p>
  `;
}

function Known(state) {
  const { id, pet, isRemoved, isLoading, events, nextPage } = state.animal;
  return html`
    <div class="facts">
      <h2 class="title" id="animal-title" tabindex="-1">${pet ? Name(pet.name) : "Loading …"}</h2>
      ${pet && !isRemoved && Controls(pet, state)}
    </div>
    <p class="soft">Id ${id}${pet && `, category ${pet.categoryId}`}</p>
    ${isRemoved && html`<p class="banner" role="status">This animal was removed.</p>`}
    <h2>History</h2>
    <ol class="events history">${events.map(Change)}</ol>
    ${isLoading && html`<p class="note">Loading …</p>`}
    ${nextPage &&
      html`<p class="note"><button onClick=${loadOlder}>Show older changes</button></p>`}
  `;
}

function Controls(pet, { busy, key }) {
  if (key?.readOnly !== false) return StatusPill(pet.status ?? "");
  return html`
    ${Status(pet, busy.get(pet.id), 0)}
    <button onClick=${() => askToRemove(pet)}>Remove</button>
  `;
}

function Change(event) {
  const { id, time, actor, data } = event;
  return html`
    <li key=${id} class="dot kind-${kindOf(event)}">
      <div class="sentence">
        <b>${titleOf(event)}</b>
        ${data.previous === undefined ? Description(data) : Differences(data)}
        <span class="soft small">
          ${ExactTime(time)}${actor && html`, by the key <code>${actor}</code>`}
        </span>
      </div>
      ${RelativeTime(time)}
    </li>
  `;
}

function titleOf(event) {
  const word = KIND_WORDS[kindOf(event)];
  return word[0].toUpperCase() + word.slice(1);
}

function Description(pet) {
  return html`<p>${Name(pet.name)}, ${describePet(pet)}</p>`;
}

function Differences(data) {
  return html`<dl>${FIELDS.map((field) => Difference(field, data))}</dl>`;
}

/** The fields of an animal, each with its values as people read them. */
const FIELDS = [
  { field: "name", show: (name) => Name(name) },
  { field: "categoryId", show: (categoryId) => categoryId },
  { field: "status", show: (status) => STATUS_LABELS[status ?? ""] },
];

function Difference({ field, show }, { previous, ...now }) {
  if (!(field in previous)) return undefined;
  return html`
    <div>
      <dt>${FIELD_LABELS[field]}</dt>
      <dd>
        <del>${show(previous[field])}</del>
        <ins>${show(now[field])}</ins>
      </dd>
    </div>
  `;
}
