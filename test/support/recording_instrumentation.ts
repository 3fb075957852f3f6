import type { RecordedLine } from "../../events/event.ts";
import type { Counter, Instrumentation } from "../../src/telemetry/instrumentation.ts";

/** Records every report as a line of text. Contexts are numbers, in the order in which they were captured. */
export class RecordingInstrumentation implements Instrumentation<number> {
  readonly reports: string[] = [];
  #captured = 0;

  /** Returns the reports since the last call. */
  take(): string[] {
    return this.reports.splice(0);
  }

  onRequest({ method, url }: Request): void {
    this.reports.push(`request ${method} ${new URL(url).pathname}`);
  }

  count(what: Counter, attributes: Record<string, string> = {}): void {
    this.reports.push([what, ...Object.values(attributes)].join(" "));
  }

  onCommitted(lines: readonly RecordedLine[]): void {
    this.reports.push(`committed ${lines.map(({ event }) => event.type).join(", ")}`);
  }

  trace<T>(operation: string, run: () => Promise<T>): Promise<T> {
    this.reports.push(operation);
    return run();
  }

  traceStore<T>(
    operation: string,
    { key }: { key?: readonly unknown[] },
    run: () => Promise<T>,
  ): Promise<T> {
    const kind = key?.[0] === "projection" ? key[2] : key?.[0];
    return this.trace(`store ${operation}${kind === undefined ? "" : ` ${String(kind)}`}`, run);
  }

  traceCommit<T>(callers: number[], events: number, run: () => Promise<T>): Promise<T> {
    return this.trace(`commit of ${events} for ${callers.join(", ")}`, run);
  }

  capture(): number {
    return ++this.#captured;
  }

  restore<T>(context: number | undefined, run: () => T): T {
    this.reports.push(`restore ${context}`);
    return run();
  }

  observe(): void {}
}
