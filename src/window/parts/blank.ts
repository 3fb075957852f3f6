/** Whether people see nothing of a text. */

/** Anything but white space and characters that nobody can see. */
const VISIBLE = /[^\p{White_Space}\p{C}]/u;

/** Whether a reader sees nothing of a name. */
export function isBlank(name: string): boolean {
  return !VISIBLE.test(name);
}
