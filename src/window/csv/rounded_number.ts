/** Numbers of which a spreadsheet has kept only the first digits, such as 9.0072E+15. */

const SCIENTIFIC = /^[+-]?(?:\d+[.,]?\d*|[.,]\d+)E[+-]?\d+$/i;

export function isRoundedNumber(text: string): boolean {
  return SCIENTIFIC.test(text);
}
