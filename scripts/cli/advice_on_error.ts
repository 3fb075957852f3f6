import { type Conversion, ConvertedError, ToolError } from "eventstore-less/tools";
import { commandName } from "../../src/runtime/words.ts";

/** A line of the log is one JSON object, so it has no bytes before the first brace and after the last one. */
const KEEP_OBJECTS = "LC_ALL=C grep -o '{.*}'";

/** The commands that repair a copy of a file whose bytes another program has changed. */
export const REPAIR_COMMANDS: Record<Conversion["kind"], string> = {
  converted: `${KEEP_OBJECTS} BACKUP > repaired.jsonl`,
  utf16: `iconv -f UTF-16 -t UTF-8 BACKUP | ${KEEP_OBJECTS} > repaired.jsonl`,
};

/** What an operator can do about an error of a tool, to follow its message; empty if there is nothing to say. */
export function adviceOnError(error: unknown): string {
  if (error instanceof ConvertedError) {
    const command = REPAIR_COMMANDS[error.conversion].replace("BACKUP", "EXPORT");
    return `. Keep the file, and repair a copy: ${command}`;
  }
  if (!(error instanceof ToolError)) return "";
  switch (error.code) {
    case "other_log":
      return `. Keep the file, and run ${commandName("audit")}`;
    case "file_changed":
      return ": it may lack printed positions. Run the same command again";
    case "export_partial":
      return `; make it again with ${commandName("log")}, without --from`;
    default:
      return "";
  }
}
