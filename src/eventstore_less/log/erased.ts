/** The text in place of personal data that an operator has erased. */

/** Replaces an erased text. Further texts of the same subject also have a number. */
export const ERASED = "(removed)";

const ERASED_TEXT = /^\(removed\)(?: \d+)?$/;

/** Whether a text replaces an erased one. Such texts of two subjects may be the same. */
export function isErased(text: string): boolean {
  return ERASED_TEXT.test(text);
}
