// Keeps the focus in the list, and moves it inside of a row and from row to row.

import { state } from "./state.js";

/** `aria-rowindex` of the first animal: that of the header is 1. */
export const FIRST_ROW_INDEX = 2;

const CONTROLS = "a, select, button, input";
const STEPS_IN_ROW = { ArrowRight: 1, ArrowLeft: -1 };
const STEPS_OF_ROWS = { ArrowDown: 1, ArrowUp: -1 };

/** The animal whose row has the focus, and the number of that row; `undefined` if none has it. */
export function focusedRow() {
  const element = document.activeElement.closest("[data-id]");
  if (element === null) return undefined;
  // The state may have changed, so the element says where it is.
  return { id: Number(element.dataset.id), row: element.ariaRowIndex - FIRST_ROW_INDEX };
}

/**
 * Draws. If the control that had the focus is gone, another one gets it: in its row or in the place of that, in the open
 * dialog, or on the page of an animal.
 */
export function keepFocus(draw) {
  const { activeElement } = document;
  const row = focusedRow();
  draw();
  const isLost = activeElement !== document.body && document.activeElement === document.body;
  if (!isLost) return;
  if (row === undefined) focusOutsideOfRows();
  else focusRow(row);
}

function focusOutsideOfRows() {
  const button = document.querySelector("dialog[open] button");
  const target = button ?? document.getElementById("animal-title");
  target?.focus();
}

/** Puts the focus on the row of an animal. If it is gone, on the one in its place. */
export function focusRow({ id, row }) {
  const place = Math.min(row, state.order.length - 1);
  const element = elementOf(id) ?? elementOf(state.order[place]);
  const target = element?.querySelector(CONTROLS) ?? document.querySelector("[aria-selected=true]");
  target?.focus({ preventScroll: true });
}

function elementOf(id) {
  return document.querySelector(`[data-id="${id}"]`);
}

/** Each row has one tab stop. The arrow keys reach its other controls, and other rows. */
export function onRowKey(event) {
  const isShortcut = event.altKey || event.ctrlKey || event.metaKey;
  const isInRow = event.target.closest("[data-id]") !== null;
  if (isShortcut || !isInRow || event.target.matches("input")) return;
  if (event.key in STEPS_IN_ROW) {
    // The key would change a status.
    event.preventDefault();
    focusInRow(event.target, STEPS_IN_ROW[event.key]);
  }
  if (event.key in STEPS_OF_ROWS && !event.target.matches("select")) {
    event.preventDefault();
    focusOtherRow(event.target, STEPS_OF_ROWS[event.key]);
  }
}

function focusInRow(control, step) {
  const controls = controlsOf(control.closest("[data-id]"));
  controls[controls.indexOf(control) + step]?.focus();
}

/** Puts the focus on the same control of the row above or below. */
function focusOtherRow(control, step) {
  const row = control.closest("[data-id]");
  const place = controlsOf(row).indexOf(control);
  const other = step > 0 ? row.nextElementSibling : row.previousElementSibling;
  if (other !== null) controlsOf(other)[place]?.focus();
}

function controlsOf(row) {
  return [...row.querySelectorAll(CONTROLS)];
}
