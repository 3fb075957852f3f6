/** Shows a command's progress on standard error: a line that changes on a terminal, otherwise a line at times. */

import process from "node:process";
import { formatCount, shorten } from "./format.ts";

const isTerminal = process.stderr.isTTY;
const LINE_EVERY_MS = isTerminal ? 100 : 5_000;
const ERASE_LINE_ABOVE = "\x1b[A\x1b[K";

export type ShowProgress = (done: number, total?: number) => void;

let phase = "";
let startedAt = 0;
let startedWith = 0;
let line = "";
let isShown = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns the function that shows the progress of a phase, for example `Comparing` `events`. */
export function progressOf(title: string, unit: string): ShowProgress {
  return (done, total) => {
    const now = performance.now();
    if (title !== phase) {
      endProgress();
      phase = title;
      startedWith = done;
      startedAt = now;
    }
    const rate = Math.round((done - startedWith) * 1_000 / Math.max(1, now - startedAt));
    const of = total === undefined ? "" : ` of ${formatCount(total)}`;
    const left = total === undefined || rate === 0 ? "" : timeLeft((total - done) / rate);
    line = `${title}: ${formatCount(done)}${of} ${unit}, ${formatCount(rate)}/s${left}`;
    timer ??= setTimeout(show, LINE_EVERY_MS);
  };
}

/** Ends the phase, so that other output can be written. */
export function endProgress(): void {
  show();
  phase = "";
  isShown = false;
}

function show(): void {
  clearTimeout(timer);
  timer = undefined;
  if (line === "") return;
  const shown = isTerminal ? shorten(line, process.stderr.columns || Infinity) : line;
  console.error(isTerminal && isShown ? `${ERASE_LINE_ABOVE}${shown}` : shown);
  line = "";
  isShown = true;
}

function timeLeft(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  return `, ${minutes === 0 ? "" : `${minutes} min `}${Math.floor(seconds % 60)} s left`;
}
