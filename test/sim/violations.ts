/** How many are written down; one is enough to fail, and a broken chain breaks everything after it. */
const LIMIT = 20;

/** What was seen that must not be, in the order in which it was seen. */
export class Violations {
  readonly list: string[] = [];

  add(what: string): void {
    if (this.list.length < LIMIT) this.list.push(what);
  }
}
