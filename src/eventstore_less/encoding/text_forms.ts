/** The text forms that events, records and flags share: ids, times and hashes. */

import { z } from "zod";

/** The pattern of a ULID (https://github.com/ulid/spec), for use in longer patterns. */
export const ULID: string = "[0-7][0-9A-HJKMNP-TV-Z]{25}";
/** The pattern of a SHA-256 in hex, for use in longer patterns. */
export const SHA256_HEX = "[0-9a-f]{64}";

/** The schema of a ULID. */
export const Ulid: z.ZodString = z.string().regex(new RegExp(`^${ULID}$`), "must be a ULID");

/** The schema of a SHA-256 in hex. */
export const Sha256Hex: z.ZodString = z.string()
  .regex(new RegExp(`^${SHA256_HEX}$`), "must be 64 lower-case hex digits");

const NO_INSTANT = "must be a UTC time with milliseconds";
/** The schema of a time in UTC with milliseconds: `2026-01-31T12:00:00.000Z`. */
export const Instant: z.ZodISODateTime = z.iso.datetime({ precision: 3, error: NO_INSTANT });
