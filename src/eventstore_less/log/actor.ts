/** Who caused an event, and the text of the actor in a line. */

/** The `actor` of an event unless the command names another one. */
export const OPERATOR = "operator";

/** Longest actor, in Unicode code points. */
const ACTOR_MAX_LENGTH = 100;

const ACTOR = new RegExp(`^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]{1,${ACTOR_MAX_LENGTH}}$`, "u");

/** Most actors. A pattern without Unicode takes half as long. */
const ASCII_ACTOR = new RegExp(`^[ -~]{1,${ACTOR_MAX_LENGTH}}$`);

/** What {@linkcode isActor} accepts, in words. */
export const ACTOR_FORM = `1 to ${ACTOR_MAX_LENGTH} characters, without control characters`;

/** Whether a text can be the actor of an event. */
export function isActor(text: string): boolean {
  return ASCII_ACTOR.test(text) || ACTOR.test(text);
}

/** The pattern of an actor in a line. An opening brace is escaped, because `dataOf()` looks for the first one. */
export const ACTOR_IN_LINE = '[^"\\\\{]*(?:\\\\(?:["\\\\]|u007b)[^"\\\\{]*)*';

const NEEDS_ESCAPE = /["\\{]/;

/** The text of an actor between quotation marks in JSON. */
export function escapeActor(actor: string): string {
  if (!NEEDS_ESCAPE.test(actor)) return actor;
  return actor.replace(/["\\]/g, "\\$&").replaceAll("{", "\\u007b");
}

/** The actor that {@linkcode escapeActor} has written. */
export function unescapeActor(text: string): string {
  return text.includes("\\") ? JSON.parse(`"${text}"`) : text;
}
