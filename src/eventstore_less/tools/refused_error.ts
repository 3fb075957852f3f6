import { ToolError } from "./tool_error.ts";

/** A tool could run, but refuses what it was given: it is not sound, or does not belong together. */
export class RefusedError extends ToolError {}
