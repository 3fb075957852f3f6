import { z } from "zod";

/**
 * An integer of the data of an event as a `number`, for example `safeInteger(1)` for a count. A line has its integers as
 * `bigint`, so `z.number()` and `z.int()` would not read them.
 */
export function safeInteger(
  min: number = Number.MIN_SAFE_INTEGER,
  max: number = Number.MAX_SAFE_INTEGER,
): z.ZodType<number, bigint> {
  return z.bigint().min(BigInt(min)).max(BigInt(max)).transform(Number);
}
