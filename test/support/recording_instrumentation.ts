import type { Instrumentation } from "../../src/telemetry/instrumentation.ts";

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

  onCredentialsRefused(reason: string): void {
    this.reports.push(`credentials refused: ${reason}`);
  }

  onCacheRead(cache: string, result: string): void {
    this.reports.push(`${cache} ${result}`);
  }

  trace<T>(operation: string, run: () => Promise<T>): Promise<T> {
    this.reports.push(operation);
    return run();
  }

  traceStoreRead<T>(operation: string, key: readonly unknown[], run: () => Promise<T>): Promise<T> {
    const kind = key[0] === "projection" ? key[2] : key[0];
    this.reports.push(`store ${operation} ${String(kind)}`);
    return run();
  }

  traceStoreCommit<T>(_mutations: number, run: () => Promise<T>): Promise<T> {
    this.reports.push("store commit");
    return run();
  }

  traceCommit<T>(callers: number[], events: number, run: () => Promise<T>): Promise<T> {
    this.reports.push(`commit of ${events} for ${callers.join(", ")}`);
    return run();
  }

  capture(): number {
    return ++this.#captured;
  }

  restore<T>(context: number | undefined, run: () => T): T {
    this.reports.push(`restore ${context}`);
    return run();
  }

  onCommitted(events: number): void {
    this.reports.push(`committed ${events}`);
  }

  onConflict(): void {
    this.reports.push("conflict");
  }

  onUnclearOutcome(): void {
    this.reports.push("unclear outcome");
  }

  onProgress(): void {}

  onSoundAudit(): void {}

  observe(): void {}
}
