/**
 * Replaces API keys and secrets of webhooks, also if the end is cut off, or if they are percent-encoded, wholly or in part,
 * once or more.
 */
export function redactKeys(text: string): string {
  return text.replace(KEY, "pets_…").replace(SECRET, "whsec_…");
}

const PERCENT = "%(?:25)*";
const HEX_DIGIT = `(?:[0-9a-f]|${PERCENT}(?:3[0-9]|[46][1-6]))`;
const [PREFIX, SECRET_PREFIX] = ["pets_", "whsec_"].map((it) => [...it].map(anyFormOf).join(""));

/** Also matches the rest of the word after the key, because a wrapped key continues there. */
const KEY = new RegExp(`${PREFIX}${HEX_DIGIT}{8,}[\\w%+-]*`, "gi");

/** Base64 has slashes, too. */
const SECRET = new RegExp(`${SECRET_PREFIX}[\\w%+/=-]{8,}`, "gi");

/** A pattern for a character as it is or percent-encoded, in either case. */
function anyFormOf(character: string): string {
  const [lower, upper] = [character, character.toUpperCase()]
    .map((form) => form.charCodeAt(0).toString(16));
  return `(?:${character}|${PERCENT}(?:${lower}|${upper}))`;
}
