/**
 * The text with every API key in it made unreadable, for logs and telemetry. Finds a key that is
 * percent-encoded, wholly or in part, once or repeatedly, and the first part of a key that was cut.
 */
export function redactKeys(text: string): string {
  return text.replace(KEY, "pets_…");
}

const PERCENT = "%(?:25)*";
const HEX_DIGIT = `(?:[0-9a-f]|${PERCENT}(?:3[0-9]|[46][1-6]))`;
const PREFIX = ["p", "e", "t", "s", "_"].map(anyFormOf).join("");

/** Takes what follows the key in the same word too: a key that was wrapped continues there. */
const KEY = new RegExp(`${PREFIX}${HEX_DIGIT}{8,}[\\w%+-]*`, "gi");

/** A pattern for a character as it is or percent-encoded, in either case. */
function anyFormOf(character: string): string {
  const [lower, upper] = [character, character.toUpperCase()]
    .map((form) => form.charCodeAt(0).toString(16));
  return `(?:${character}|${PERCENT}(?:${lower}|${upper}))`;
}
