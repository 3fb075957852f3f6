import { closestString } from "@std/text/closest-string";

/** Says on one line why `parseArgs` of `node:util` refuses arguments, and names the flag that may be meant. */
export function argumentFault({ message }: Error, options: Record<string, unknown>): string {
  // The first sentence names the fault; the others explain how an argument can begin with a dash.
  const [fault] = message.split(/\.\s/);
  const [, unknown] = /^Unknown option '--(.+)'/.exec(fault) ?? [];
  const names = Object.keys(options);
  return unknown === undefined || names.length === 0
    ? fault.replace("argument is ambiguous", "needs a value that does not begin with a dash")
    : `${fault}; the nearest is --${closestString(unknown, names)}`;
}
