import { assertNever } from "../../events/assert_never.ts";
import { encodeEvent, type RecordedEvent } from "../../events/event.ts";
import { encodeUtf8Pooled } from "../encoding/encode_utf8_pooled.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { logKey, type ProjectionRecord, recordMutation } from "../keyspace.ts";
import { type Head, writtenGenerations } from "../log/head.ts";
import type { Mutation } from "../store/store.ts";
import type { Command } from "./command.ts";

/** The part that one command adds to a commit on `head`. */
export interface PlannedAppend {
  head: Head;
  next: Head;
  events: RecordedEvent[];
  lines: Uint8Array[];
  records: ProjectionRecord[];
  mutations: Mutation[];
}

/** Makes events into the records of the projections. */
export type Project = (event: RecordedEvent) => ProjectionRecord[];

/** Plans what a prepared command adds to a commit on `head`. Throws the refusal of the command. */
export function planAppend(
  command: Command,
  head: Head,
  project: Project,
  now: number,
): PlannedAppend {
  const generations = writtenGenerations(head);
  const events: RecordedEvent[] = [];
  const lines: Uint8Array[] = [];
  const records: ProjectionRecord[] = [];
  const mutations: Mutation[] = [];
  let next = head;
  for (const fact of command.decide(head)) {
    const event = { ...fact, position: next.position + 1, previousHash: next.lastHash };
    const line = encodeUtf8Pooled(encodeEvent(event));
    next = headAfter(next, event, line);
    events.push(event);
    lines.push(line);
    mutations.push({ type: "set", key: logKey(event.position), value: line });
    for (const record of project(event)) {
      records.push(record);
      for (const generation of generations) {
        mutations.push(recordMutation(generation, record, now));
      }
    }
  }
  return { head, next, events, lines, records, mutations };
}

function headAfter(head: Head, event: RecordedEvent, line: Uint8Array): Head {
  const next = { ...head, position: event.position, lastHash: sha256Hex(line) };
  switch (event.type) {
    case "PetCreated":
      next.lastPetId = event.data.id;
      return next;
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      next.keyPosition = event.position;
      return next;
    default:
      return assertNever(event);
  }
}
