import { LINE_FEED } from "../../src/encoding/pack_lines.ts";
import type { Key, Mutation, SetMutation } from "../../src/store/store.ts";
import type { Violations } from "./violations.ts";

/** Maximum size of a value of several lines, in bytes. */
const PACKED_BYTES_LIMIT = 8_192;

/**
 * Rules for the records of lines in any store: the log, the pets and the pets by status. A record is written once
 * and never changed. The lines of a commit are split into several records only at the limit of packed lines.
 */
export class RecordRules {
  #violations: Violations;
  #written = new Set<string>();

  constructor(violations: Violations) {
    this.#violations = violations;
  }

  /** Receives the mutations of every commit that the store has applied. */
  observe(mutations: readonly Mutation[]): void {
    const previous = new Map<string, SetMutation>();
    for (const mutation of mutations) {
      const { key } = mutation;
      if (!holdsLines(key)) continue;
      const name = JSON.stringify(key);
      if (mutation.type === "delete") {
        if (key[0] === "log") this.#violations.add(`The record ${name} was deleted`);
        this.#written.delete(name);
        continue;
      }
      if (this.#written.has(name)) this.#violations.add(`The record ${name} was written twice`);
      this.#written.add(name);
      if (exceedsLimit(mutation)) {
        this.#violations.add(`The record ${name} of several lines is larger than the limit`);
      }
      const prefix = JSON.stringify(key.slice(0, -1));
      const before = previous.get(prefix);
      if (before !== undefined && fitIntoOne(before, mutation)) {
        this.#violations.add(`A commit split the record ${name} although it is within the limit`);
      }
      previous.set(prefix, mutation);
    }
  }
}

function holdsLines([space, , kind]: Key): boolean {
  return space === "log" || space === "projection" && (kind === "pet" || kind === "pet_by_status");
}

function fitIntoOne(one: SetMutation, other: SetMutation): boolean {
  return one.value.length + other.value.length <= PACKED_BYTES_LIMIT;
}

function exceedsLimit({ value }: SetMutation): boolean {
  if (value.length <= PACKED_BYTES_LIMIT) return false;
  return typeof value === "string" || value.indexOf(LINE_FEED) < value.length - 1;
}
