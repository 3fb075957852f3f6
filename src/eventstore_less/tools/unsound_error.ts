import { RefusedError } from "./refused_error.ts";

export interface UnsoundDetails {
  /** The last position before the fault. */
  lastSound: number;
  /** The position that the faulty line says it has, if that can be read. If it is larger than the next one, lines are missing. */
  named?: number;
}

/** The log has a fault (`log_unsound`), or a generation built from it does not match it (`records_unsound`). */
export class UnsoundError extends RefusedError {
  readonly lastSound: number;
  readonly named: number | undefined;

  constructor(
    code: "log_unsound" | "records_unsound",
    message: string,
    { lastSound, named }: UnsoundDetails,
  ) {
    super(code, message);
    this.lastSound = lastSound;
    this.named = named;
  }
}
