/** The text forms that events, records and flags share: ids, times and hashes. */

import { z } from "zod";

/** Patterns of a ULID (https://github.com/ulid/spec) and of a SHA-256, for use in longer patterns. */
export const ULID = "[0-7][0-9A-HJKMNP-TV-Z]{25}";
export const SHA256_HEX = "[0-9a-f]{64}";

export const Ulid: z.ZodString = z.string().regex(new RegExp(`^${ULID}$`), "must be a ULID");

export const Sha256Hex: z.ZodString = z.string()
  .regex(new RegExp(`^${SHA256_HEX}$`), "must be 64 lower-case hex digits");

const NO_INSTANT = "must be a UTC time with milliseconds";
export const Instant: z.ZodISODateTime = z.iso.datetime({ precision: 3, error: NO_INSTANT });
