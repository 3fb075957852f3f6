import { ENGINE_LOG_EVENTS } from "eventstore-less/startup";

/** The events of all lines that the service logs. The table in scripts/runbook.md explains each; a test compares them. */
export const LOG_EVENTS = [
  ...ENGINE_LOG_EVENTS,
  "accept_failed",
  "answer_failed",
  "clock_behind",
  "commits_not_replicated",
  "crashed",
  "credentials_refused",
  "index_damaged",
  "index_filled",
  "lines_dropped",
  "listening",
  "no_live_key",
  "not_ready",
  "process_ended",
  "process_restarting",
  "ready",
  "request",
  "request_failed",
  "restart_failed",
  "restarted",
  "shutting_down",
  "stopped",
  "store_empty",
  "store_file_not_checked",
  "store_in_memory",
  "store_made",
  "store_opened",
  "stream_failed",
  "telemetry_failed",
  "webhook_disabled",
  "webhook_key_missing",
  "window_unavailable",
] as const;

export type LogEvent = typeof LOG_EVENTS[number];
