/** How long an Idempotency-Key is valid, in milliseconds after the time of its event. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1_000;
