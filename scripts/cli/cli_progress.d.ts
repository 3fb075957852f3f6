/**
 * Types for the used part of cli-progress, which has none of its own; its @types would add Node's globals.
 */

declare module "cli-progress" {
  export interface Options {
    /**
     * Placeholders in braces: `bar`, `percentage`, `value`, `total`, `eta_formatted`, and payload members.
     */
    format: string;
    barCompleteChar?: string;
    barIncompleteChar?: string;
    /** Width of the bar, in characters. */
    barsize?: number;
    /** Whether the terminal wraps long lines; with `false`, it cuts them while the bar is shown. */
    linewrap?: boolean;
    /** Number of updates from which the remaining time is estimated. */
    etaBuffer?: number;
  }

  /** A progress bar on standard error. It is shown only on a terminal. */
  export class SingleBar {
    constructor(options: Options);
    start(total: number, value: number, payload: object): void;
    update(value: number, payload: object): void;
    stop(): void;
  }
}
