// Events in words: one alone, and a run of several.

import { html } from "./elements.js";
import { KIND_WORDS, kindOf } from "./kinds.js";
import { Name } from "./names.js";
import { STATUS_CHANGES, STATUS_CHANGES_OF_SEVERAL } from "./statuses.js";

export function sentenceOf(event) {
  const { previous, name } = event.data;
  if (previous === undefined) return html`${Name(name)} was ${KIND_WORDS[kindOf(event)]}`;
  return html`${Name(previous.name ?? name)} ${changesOf(event.data).map(joined)}`;
}

function joined(change, index) {
  return index === 0 ? change : html`${" and "}${change}`;
}

function changesOf({ name, categoryId, status = "", previous }) {
  const changes = [];
  if ("status" in previous) changes.push(STATUS_CHANGES[status]);
  if ("name" in previous) changes.push(html`was renamed ${Name(name)}`);
  if ("categoryId" in previous) changes.push(`moved to category ${categoryId}`);
  return changes;
}

/** `count` is the number of events as words, `animals` that of their animals. */
export function sentenceOfRun(events, count, animals) {
  const [event] = events;
  if (animals === 1) return html`${Name(event.data.name)} was changed ${count} times`;
  return `${count} animals ${verbOf(event)}`;
}

/** The event in words that do not name its animal. Events of one run have the same words. */
export function verbOf(event) {
  const { previous, status = "" } = event.data;
  const changed = Object.keys(previous ?? {});
  const isStatusAlone = changed.length === 1 && changed[0] === "status";
  if (isStatusAlone) return STATUS_CHANGES_OF_SEVERAL[status];
  return `were ${KIND_WORDS[kindOf(event)]}`;
}
