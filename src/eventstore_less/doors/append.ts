/** Commands, and the appender that gives each one an outcome. */

export { APPEND_LIMIT_MS, Appender, type Committed } from "../append/appender.ts";
export type { Appended, Command } from "../append/command.ts";
export { findEarlierEvent } from "../idempotency/earlier_event.ts";
