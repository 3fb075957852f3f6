/** What the interface answers, section by section. */

import { ADD } from "./add.ts";
import { CATEGORIES } from "./categories.ts";
import { BATCH } from "./batch.ts";
import { BODIES } from "./bodies.ts";
import { CHANGE } from "./change.ts";
import { CONDITIONS } from "./conditions.ts";
import { CREDENTIALS } from "./credentials.ts";
import { FAULTS } from "./faults.ts";
import { GET } from "./get.ts";
import { IDEMPOTENCY } from "./idempotency.ts";
import { LIST } from "./list.ts";
import { REMOVE } from "./remove.ts";
import { RESTORE } from "./restore.ts";
import type { Section, Story } from "./story.ts";

export const SECTIONS: readonly Section[] = [
  LIST,
  ADD,
  GET,
  CHANGE,
  REMOVE,
  RESTORE,
  CATEGORIES,
  BATCH,
  CONDITIONS,
  IDEMPOTENCY,
  BODIES,
  CREDENTIALS,
  FAULTS,
];

export interface Clause extends Story {
  /** The title of its section and its own words. */
  name: string;
  level: 1 | 2;
}

export function clausesOf({ title, contract, added }: Section): Clause[] {
  return [
    ...contract.map((story): Clause => ({ ...story, name: `${title}: ${story.clause}`, level: 1 })),
    ...added.map((story): Clause => ({ ...story, name: `${title}: ${story.clause}`, level: 2 })),
  ];
}

export const CLAUSES: readonly Clause[] = SECTIONS.flatMap(clausesOf);
