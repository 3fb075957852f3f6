/** What the interface answers, section by section. */

import { ADD } from "./add.ts";
import { ADDRESSES } from "./addresses.ts";
import { BATCH } from "./batch.ts";
import { BODIES } from "./bodies.ts";
import { CATEGORIES } from "./categories.ts";
import { CHANGE } from "./change.ts";
import { COMPRESSION } from "./compression.ts";
import { CONDITIONS } from "./conditions.ts";
import { COUNT_ANIMALS } from "./count_animals.ts";
import { CREDENTIALS } from "./credentials.ts";
import { CROSS_ORIGIN } from "./cross_origin.ts";
import { ERRORS } from "./errors.ts";
import { FAULTS } from "./faults.ts";
import { FEED } from "./feed.ts";
import { GET } from "./get.ts";
import { IDEMPOTENCY } from "./idempotency.ts";
import { HISTORY } from "./history.ts";
import { KEY } from "./key.ts";
import { LIST } from "./list.ts";
import { LIST_REMOVED } from "./list_removed.ts";
import { METHODS_OF_PATHS } from "./methods.ts";
import { REMOVE } from "./remove.ts";
import { RESTORE } from "./restore.ts";
import { SEARCH } from "./search.ts";
import type { Section, Story } from "./story.ts";
import { SUMMARY } from "./summary.ts";
import { WEBHOOK_DELIVERIES } from "./webhook_deliveries.ts";
import { WEBHOOKS } from "./webhooks.ts";

export const SECTIONS: readonly Section[] = [
  LIST,
  SEARCH,
  LIST_REMOVED,
  ADD,
  GET,
  CHANGE,
  FEED,
  REMOVE,
  HISTORY,
  KEY,
  CATEGORIES,
  COUNT_ANIMALS,
  BATCH,
  RESTORE,
  SUMMARY,
  WEBHOOKS,
  WEBHOOK_DELIVERIES,
  CONDITIONS,
  COMPRESSION,
  IDEMPOTENCY,
  BODIES,
  METHODS_OF_PATHS,
  ADDRESSES,
  CROSS_ORIGIN,
  CREDENTIALS,
  ERRORS,
  FAULTS,
];

/** Level 1 is the contract with its three operations, level 2 all of the interface. */
export type Level = 1 | 2;

export interface Clause extends Story {
  /** The title of its section and its own words. */
  name: string;
  level: Level;
}

export function clausesOf({ title, contract, beyond }: Section): Clause[] {
  return [
    ...contract.map((story): Clause => ({ ...story, name: `${title}: ${story.clause}`, level: 1 })),
    ...beyond.map((story): Clause => ({ ...story, name: `${title}: ${story.clause}`, level: 2 })),
  ];
}

export const CLAUSES: readonly Clause[] = SECTIONS.flatMap(clausesOf);
