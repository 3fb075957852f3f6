import { type Conversion, ConvertedError, shellWord, ToolError } from "eventstore-less/tools";
import {
  commandName,
  makeStoreCommand,
  namesOfNewFiles,
  newStore,
  switchAdvice,
} from "../../src/runtime/words.ts";

/** A line of the log is one JSON object, so it has no bytes before the first brace and after the last one. */
const KEEP_OBJECTS = "LC_ALL=C grep -o '{.*}'";

/** The command that repairs a copy of a file whose bytes another program has changed. */
export function repairCommand(kind: Conversion["kind"], file: string, copy: string): string {
  if (kind === "converted") return `${KEEP_OBJECTS} ${file} > ${copy}`;
  return `iconv -f UTF-16 -t UTF-8 ${file} | ${KEEP_OBJECTS} > ${copy}`;
}

/** The advice on an error of a tool about the file with that name. It follows the message, and is empty if there is none. */
export function adviceOnError(error: unknown, name = "EXPORT"): string {
  const file = shellWord(name);
  if (error instanceof ConvertedError) {
    const copy = namesOfNewFiles()("repaired.jsonl");
    const command = repairCommand(error.conversion, file, copy);
    return `. Keep the file, and repair a copy: ${command}`;
  }
  if (!(error instanceof ToolError)) return "";
  switch (error.code) {
    case "other_log":
      return `. Keep the file. ${adviceOnOtherLog(file)}`;
    case "file_changed":
      return ": it may lack printed positions. Run the same command again";
    case "export_partial":
      return `; make it again with ${commandName("log")}, without --from`;
    default:
      return "";
  }
}

/** An audit of the store alone would find nothing: an older copy is sound, too. */
function adviceOnOtherLog(file: string): string {
  const nameOf = namesOfNewFiles();
  const store = newStore(nameOf);
  const made = makeStoreCommand(nameOf);
  const make = made === undefined ? "" : `${made}, then `;
  return "If the store was set back or redacted on purpose, begin with a new file. Otherwise it has lost events: run " +
    `${commandName(`audit --file ${file}`)}, and if that is sound, stop the service, run ${make}` +
    `${store} ${commandName(`restore ${file}`)}, and ${switchAdvice(store)}`;
}
