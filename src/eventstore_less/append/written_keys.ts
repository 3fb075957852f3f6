import type { ProjectionKey, ProjectionRecord } from "../definitions.ts";
import { keyText } from "../store/key_encoding.ts";

/** What a preparation has read: records by their keys, and lists of all records whose keys begin with some elements. */
export class ReadKeys {
  readonly texts: Set<string> = new Set();
  readonly prefixes: ProjectionKey[] = [];

  addKey(key: ProjectionKey): void {
    this.texts.add(keyText(key));
  }

  addPrefix(prefix: ProjectionKey): void {
    this.prefixes.push(prefix);
  }
}

/** The keys of the records that the events of a commit write or remove. They are computed when somebody asks. */
export class WrittenKeys {
  readonly #records: readonly ProjectionRecord[];
  readonly #texts = new Set<string>();
  #counted = 0;

  /** More records may be added to the array later. */
  constructor(records: readonly ProjectionRecord[]) {
    this.#records = records;
  }

  /** Whether any of them is of a record that was read, or is in a list that was. */
  hasAnyOf({ texts, prefixes }: ReadKeys): boolean {
    while (this.#counted < this.#records.length) {
      this.#texts.add(keyText(this.#records[this.#counted].key));
      this.#counted++;
    }
    if (!this.#texts.isDisjointFrom(texts)) return true;
    return prefixes.some((prefix) => this.#records.some(({ key }) => beginsWith(key, prefix)));
  }
}

function beginsWith(key: ProjectionKey, prefix: ProjectionKey): boolean {
  return prefix.every((part, index) => key[index] === part);
}
