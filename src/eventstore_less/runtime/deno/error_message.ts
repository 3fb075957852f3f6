/** For a missing permission, Deno advises a flag. An operator cannot add it to a task. */
const FLAG_ADVICE = /, run again with .*/s;

/** The message of an error, without what only a developer of the program could do. */
export function errorMessage(error: Error): string {
  if (error.name !== "NotCapable") return error.message;
  return error.message.replace(FLAG_ADVICE, ", which this command does not have");
}
