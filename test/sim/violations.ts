/** Maximum number of recorded violations. One is enough to fail, and a broken chain causes many more. */
const LIMIT = 20;

/** Violations of the service's promises, in the order in which they were seen. */
export class Violations {
  readonly list: string[] = [];

  add(what: string): void {
    if (this.list.length < LIMIT) this.list.push(what);
  }
}
