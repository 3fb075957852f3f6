import { ServiceError } from "../service_error.ts";

/** Why a tool did not do what it was called for. */
export type ToolErrorCode =
  | "commit_failed"
  | "converted"
  | "entries_required"
  | "export_changed"
  | "export_empty"
  | "export_partial"
  | "export_too_short"
  | "file_changed"
  | "file_in_use"
  | "group_full"
  | "head_contended"
  | "key_invalid"
  | "log_damaged"
  | "log_empty"
  | "log_unsound"
  | "not_a_file"
  | "not_an_export"
  | "not_found"
  | "not_published"
  | "nothing_to_erase"
  | "origin_invalid"
  | "origin_required"
  | "other_key"
  | "other_log"
  | "published_damaged"
  | "published_differs"
  | "records_unsound"
  | "replay_overtaken"
  | "signature_invalid"
  | "store_not_empty"
  | "store_refused"
  | "write_failed";

/** A tool did not do what it was called for. The code says why, and stays the same; the message is for people. */
export class ToolError extends ServiceError<ToolErrorCode> {}
