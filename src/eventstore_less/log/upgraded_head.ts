/** The head record of format 6. No other record of that format differs from format 7, so its first commit upgrades a store. */

import type { Application } from "../application.ts";
import type { Head } from "../definitions.ts";
import { STORE_FORMAT, UPGRADED_FORMAT } from "./store_format.ts";

type JsonObject = Record<string, unknown>;

/** Members that earlier versions of format 6 wrote. They mean nothing. */
const FORMER_MEMBERS = ["removing", "lacksColumns"];

/** The record as this version writes it. */
export function upgradedHead(application: Application, record: JsonObject): JsonObject {
  const members = Object.entries(record).filter(([name]) => !FORMER_MEMBERS.includes(name));
  return {
    ...Object.fromEntries(members),
    format: STORE_FORMAT,
    application: application.name,
    counts: namedCounts(application, record.counts as object),
  };
}

/** What a version of format 6 would have encoded, if the record says that head. */
export function earlierHead(head: Head, record: JsonObject): JsonObject {
  const { position, lastHash, types, generation } = head;
  const former = Object.entries(record).filter(([name]) => FORMER_MEMBERS.includes(name));
  return {
    format: UPGRADED_FORMAT,
    position,
    lastHash,
    types,
    counts: record.counts,
    generation,
    ...Object.fromEntries(former),
  };
}

/** Earlier versions of format 6 wrote the counts of one collection without its name, if the application had one. */
function namedCounts(application: Application, counts: object): object {
  const areUnnamed = Object.values(counts).some((count) => typeof count === "number");
  const unnamed = application.collections.find(({ hadUnnamedCounts }) => hadUnnamedCounts)?.name;
  return areUnnamed && unnamed !== undefined ? { [unnamed]: counts } : counts;
}
