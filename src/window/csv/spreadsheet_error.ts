/** What a spreadsheet shows in a cell whose formula has failed. */

const ERRORS =
  /^#(?:N\/A|REF!|NAME\?|VALUE!|DIV\/0!|NUM!|NULL!|SPILL!|CALC!|FIELD!|BLOCKED!|CONNECT!|GETTING_DATA)$/i;

export function isSpreadsheetError(text: string): boolean {
  return ERRORS.test(text);
}
