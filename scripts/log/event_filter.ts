import { LogDamagedError, OPERATOR } from "eventstore-less";
import { Ulid } from "eventstore-less/encoding";
import type { StoredLine } from "eventstore-less/parts";
import { APPLICATION } from "../../src/application.ts";
import { API_KEYS } from "../../src/keys/api_keys.ts";
import { expectSubject, parseTime, wrongFormError } from "../cli/flag_values.ts";
import { UsageError } from "../cli/table_entry.ts";

/** The flags that select events. */
export interface EventFlags {
  "type"?: string[];
  "subject"?: string;
  "actor"?: string;
  "since"?: string;
  "until"?: string;
  "no-keys"?: boolean;
}

/** Returns whether an event is selected, or `undefined` if all are. Throws {@linkcode UsageError}. */
export function eventFilter(flags: EventFlags) {
  const { type: types, subject, actor, "no-keys": isWithoutKeys = false } = flags;
  for (const type of types ?? []) {
    if ((APPLICATION.eventTypes as string[]).includes(type)) continue;
    throw new UsageError(`--type takes one of ${APPLICATION.eventTypes.join(", ")}`);
  }
  if (subject !== undefined) expectSubject("--subject", subject);
  if (actor !== undefined && !isActor(actor)) {
    throw wrongFormError("--actor", `the id of a key, or ${OPERATOR}`, actor);
  }
  const since = parseTime("--since", flags.since);
  const until = parseTime("--until", flags.until);
  if (since !== undefined && until !== undefined && until < since) {
    throw new UsageError("--until must not be before --since");
  }
  if (Object.keys(flags).length === 0) return undefined;
  return (line: StoredLine) => {
    const event = membersOf(line);
    return (types === undefined || types.includes(event.type)) &&
      !(isWithoutKeys && event.subject.startsWith(SUBJECTS_OF_KEYS)) &&
      (subject === undefined || event.subject === subject) &&
      (actor === undefined || event.actor === actor) &&
      // Not a search for the first event of that time, because the clocks of the instances differ.
      (since === undefined || event.time >= since) &&
      (until === undefined || event.time < until);
  };
}

const SUBJECTS_OF_KEYS = `${API_KEYS.name}/`;

function isActor(text: string): boolean {
  return text === OPERATOR || Ulid.safeParse(text).success;
}

function membersOf({ position, line }: StoredLine): Record<string, string> {
  try {
    return JSON.parse(new TextDecoder().decode(line));
  } catch {
    throw new LogDamagedError(position, "is not JSON");
  }
}
