import type { Logger as LoggerOf } from "eventstore-less";
import type { LogEvent } from "./log_events.ts";

/** Logs one entry for each change of the service's state (such as start and stop) and for each failure. */
export type Logger = LoggerOf<LogEvent>;

/** The event of the line for a response. Such lines may be dropped first, because there are many. */
export const REQUEST_LINE: LogEvent = "request";
