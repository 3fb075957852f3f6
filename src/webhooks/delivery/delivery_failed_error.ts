import { type Attempt, ATTEMPT_ERRORS } from "../sending/attempt.ts";

/** An endpoint did not confirm a delivery. The message is for its owner and for operators. */
export class DeliveryFailedError extends Error {
  override name = "DeliveryFailedError";
  readonly attempt: Attempt;

  constructor(attempt: Attempt) {
    super(outcomeOf(attempt));
    this.attempt = attempt;
  }
}

function outcomeOf({ status, error }: Attempt): string {
  return error === undefined ? `The receiver answered ${status}` : ATTEMPT_ERRORS[error];
}
