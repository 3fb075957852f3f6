/** How long an Idempotency-Key is remembered, in milliseconds from the time of its event. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1_000;
