// What an import would do: the columns, the first animals, and the lines with faults.

import { lines } from "./count_words.js";
import { html } from "./elements.js";
import { Name } from "./names.js";
import { FIELD_LABELS } from "./pet_fields.js";
import { StatusPill } from "./status_select.js";

const ANIMALS_SHOWN = 5;
const FAULTS_SHOWN = 100;

export function ImportPreview({ plan }) {
  const { columns, entries, faults } = plan;
  return html`
    <h2>Columns</h2>
    <ul class="chips">${columns.map(Column)}</ul>
    <h2>First animals</h2>
    <table>
      <thead>
        <tr>
          <th class="number">Line</th>
          <th>Name</th>
          <th class="number">Category</th>
          <th>Status</th>
        </tr>
      </thead>
      <tbody>${entries.slice(0, ANIMALS_SHOWN).map(Animal)}</tbody>
    </table>
    ${FaultyLines(faults, "are left out")}
  `;
}

function Column({ title, field }) {
  const use = FIELD_LABELS[field];
  return html`
    <li class=${use ? "" : "soft"}><bdi>${title || "(no title)"}</bdi> → ${use ?? "left out"}</li>
  `;
}

function Animal({ line, pet }) {
  return html`
    <tr>
      <td class="number">${line}</td>
      <td>${Name(pet.name)}</td>
      <td class="number">${pet.categoryId}</td>
      <td>${StatusPill(pet.status ?? "")}</td>
    </tr>
  `;
}

/** Lines with their faults, as a list that is not longer than a person can read. */
export function FaultyLines(faults, outcome) {
  if (faults.length === 0) return undefined;
  const more = faults.length - FAULTS_SHOWN;
  return html`
    <h2>${lines(faults.length)} ${outcome}</h2>
    <ol class="faults" tabindex="0" aria-label="Lines with faults">
      ${faults.slice(0, FAULTS_SHOWN).map(FaultyLine)}
    </ol>
    ${more > 0 && html`<p class="soft small">and ${more.toLocaleString()} more</p>`}
  `;
}

function FaultyLine({ line, fault }) {
  return html`<li><span class="number">Line ${line}</span> ${fault}</li>`;
}
