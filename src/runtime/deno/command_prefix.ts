/** The words before the name of a command, if an operator calls it on this runtime. */
export const commandPrefix = (): string => "deno task";
