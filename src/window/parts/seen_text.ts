/** The text that people see: without characters of no width, without blanks around it, and with composed letters. */

import { withoutInvisible } from "../../encoding/without_invisible.ts";

export function seenText(text: string): string {
  return withoutInvisible(text).trim().normalize("NFC");
}
