/** Types of what is used of cli-progress, which bears none; those of @types would bring Node's globals along. */

declare module "cli-progress" {
  export interface Options {
    /** Placeholders in braces: `bar`, `percentage`, `value`, `total`, `eta_formatted`, and of the payload. */
    format: string;
    barCompleteChar?: string;
    barIncompleteChar?: string;
    /** Width of the bar, in characters. */
    barsize?: number;
    /** Whether the terminal is left to break its lines; `false` has it cut them while the bar is shown. */
    linewrap?: boolean;
    /** How many updates the time left is reckoned from. */
    etaBuffer?: number;
  }

  /** A bar on standard error, which shows on a terminal only. */
  export class SingleBar {
    constructor(options: Options);
    start(total: number, value: number, payload: object): void;
    update(value: number, payload: object): void;
    stop(): void;
  }
}
