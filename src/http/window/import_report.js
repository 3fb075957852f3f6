// How far an import is, and what came of it.

import { animalsWere } from "./count_words.js";
import { html } from "./elements.js";
import { FaultyLines } from "./import_preview.js";

export function ImportReport({ plan, progress, isDone, fault }) {
  const { length } = plan.entries;
  const { done, failed } = progress;
  return html`
    <progress aria-label="Import" max=${length} value=${done}></progress>
    <p role="status">${isDone
      ? outcomeOf(progress)
      : `${done.toLocaleString()} of ${length.toLocaleString()}`}</p>
    <p class="fault" role="alert">${fault}</p>
    ${FaultyLines(failed, "failed")}
    ${isDone && FaultyLines(plan.faults, "were left out")}
  `;
}

export function outcomeOf({ done, added, failed }) {
  const present = done - added - failed.length;
  const sentences = [`${animalsWere(added)} added.`];
  if (present > 0) {
    sentences.push(`${animalsWere(present)} here already, from an earlier import of this file.`);
  }
  return sentences.join(" ");
}
