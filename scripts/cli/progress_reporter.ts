/** Shows a command's progress on standard error: a bar on a terminal, otherwise a line from time to time. */

import { SingleBar } from "cli-progress";
import { isTelemetryOn } from "../../src/settings/config.ts";
import { count } from "./count.ts";

/** OpenTelemetry is loaded only if it is on. */
const telemetry = isTelemetryOn()
  ? await import("../../src/telemetry/open_telemetry.ts")
  : undefined;

const LINE_EVERY_MS = 5_000;

export interface ProgressPhase {
  /** The activity, for example `Comparing`. */
  title: string;
  /** The unit counted, for example `events`. */
  unit: string;
}

export class ProgressReporter {
  #isTerminal = Deno.stderr.isTerminal();
  #bar: SingleBar | undefined;
  #phase: ProgressPhase | undefined;
  #startedAt = 0;
  #startedWith = 0;
  #printedAt = 0;
  #line = "";

  /** Reports the progress of a phase. The first report of another phase ends the one before. */
  update(phase: ProgressPhase, done: number, total?: number): void {
    if (phase.title !== this.#phase?.title) this.#begin(phase, done, total);
    telemetry?.recordProgress(phase.title, phase.unit, done);
    const seconds = (performance.now() - this.#startedAt) / 1_000;
    const rate = seconds === 0 ? 0 : Math.round((done - this.#startedWith) / seconds);
    if (this.#bar !== undefined) {
      this.#bar.update(done, { ...phase, rate: count(rate) });
      return;
    }
    const left = total === undefined || rate === 0
      ? ""
      : `, ${duration((total - done) / rate)} left`;
    const of = total === undefined ? "" : ` of ${count(total)}`;
    this.#line = `${phase.title}: ${count(done)}${of} ${phase.unit}, ${count(rate)}/s${left}`;
    if (performance.now() - this.#printedAt >= LINE_EVERY_MS) this.#print();
  }

  /** Tells OpenTelemetry, if it is on, that an audit has found the store sound. */
  reportSoundAudit(): void {
    telemetry?.recordSoundAudit(Date.now());
  }

  /** Ends the last phase, so that other output can be written. */
  end(): void {
    this.#bar?.stop();
    this.#bar = undefined;
    this.#phase = undefined;
    this.#print();
  }

  #begin(phase: ProgressPhase, done: number, total?: number): void {
    this.end();
    this.#phase = phase;
    this.#startedAt = this.#printedAt = performance.now();
    this.#startedWith = done;
    if (!this.#isTerminal) return;
    this.#bar = new SingleBar({
      format: total === undefined
        ? "{title} {value} {unit}, {rate}/s"
        : "{title} [{bar}] {percentage}% {value}/{total} {unit}, {rate}/s, {eta_formatted} left",
      barCompleteChar: "=",
      barIncompleteChar: " ",
      barsize: 16,
      // Otherwise the terminal would still cut long lines after a Ctrl-C.
      linewrap: true,
      etaBuffer: 50,
    });
    this.#bar.start(total ?? 0, done, { ...phase, rate: 0 });
  }

  #print(): void {
    if (this.#line !== "") console.error(this.#line);
    this.#line = "";
    this.#printedAt = performance.now();
  }
}

function duration(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
