import { LINE_FEED } from "../../src/encoding/pack_lines.ts";
import type { Key, Mutation, SetMutation } from "../../src/store/store.ts";
import type { Violations } from "./violations.ts";

/** The first part of the keys of the log. */
const LOG = "~log";

/** Maximum size of a record of several lines, in bytes. */
const LIMITS = { log: 8_192, pets: 900 };

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
        if (key[0] === LOG) this.#violations.add(`The record ${name} was deleted`);
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
  return space === LOG || space === "projection" && (kind === "pet" || kind === "pet_by_status");
}

function limitOf([space]: Key): number {
  return space === LOG ? LIMITS.log : LIMITS.pets;
}

function fitIntoOne(one: SetMutation, other: SetMutation): boolean {
  return one.value.length + other.value.length <= limitOf(one.key);
}

function exceedsLimit({ key, value }: SetMutation): boolean {
  if (value.length <= limitOf(key)) return false;
  return typeof value === "string" || value.indexOf(LINE_FEED) < value.length - 1;
}
