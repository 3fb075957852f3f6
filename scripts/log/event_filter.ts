import { EVENT_TYPES } from "eventstore-less/tables.ts";
import { OPERATOR } from "eventstore-less/log/actor.ts";
import { z } from "zod";
import { isSubject, SUBJECT_FORMS } from "../cli/subject_text.ts";
import { Ulid } from "../../src/encoding/text_forms.ts";
import { LogDamagedError, type StoredLine } from "eventstore-less/log/read_log.ts";
import { parseDuration } from "../cli/flag_values.ts";
import { UsageError } from "../cli/run_command.ts";
import type { COMMANDS, FlagValues } from "../cli/commands.ts";

/** Returns whether an event is selected, or `undefined` if all are. Throws {@linkcode UsageError}. */
export function eventFilter(flags: Omit<FlagValues<typeof COMMANDS.log>, "from" | "last" | "to">) {
  const { type, subject, actor } = flags;
  if (type !== undefined && !(EVENT_TYPES as string[]).includes(type)) {
    throw new UsageError(`--type takes one of ${EVENT_TYPES.join(", ")}`);
  }
  if (subject !== undefined && !isSubject(subject)) {
    throw wrongFormError("--subject", SUBJECT_FORMS.join(" or "), subject);
  }
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
    return (type === undefined || event.type === type) &&
      (subject === undefined || event.subject === subject) &&
      (actor === undefined || event.actor === actor) &&
      // Not a search for the first event of that time, because the clocks of the instances differ.
      (since === undefined || event.time >= since) &&
      (until === undefined || event.time < until);
  };
}

function isActor(text: string): boolean {
  return text === OPERATOR || Ulid.safeParse(text).success;
}

function wrongFormError(flag: string, form: string, text: string): UsageError {
  return new UsageError(`${flag} takes ${form}, not ${JSON.stringify(text)}`);
}

/** A date, or a date and a time. Without an offset, the time is in UTC. */
const Time = z.union([z.iso.date(), z.iso.datetime({ offset: true, local: true })]);

/** Parses a time, or a duration before now, into the form that the time of an event has. */
function parseTime(flag: string, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  if (/^\d+[smhd]$/.test(text)) {
    return new Date(Date.now() - parseDuration(flag, text)).toISOString();
  }
  const time = text.replace(/(T\d\d:\d\d)(?=[Z+-]|$)/, "$1:00");
  if (!Time.safeParse(time).success) {
    const form = "a time like 2026-11-20 or 2026-11-20T08:00Z, or 24h (ago)";
    throw wrongFormError(flag, form, text);
  }
  const isWithoutOffset = /T[^Z+-]*$/.test(time);
  return new Date(isWithoutOffset ? `${time}Z` : time).toISOString();
}

function membersOf({ position, line }: StoredLine): Record<string, string> {
  try {
    return JSON.parse(new TextDecoder().decode(line));
  } catch {
    throw new LogDamagedError(position, "is not JSON");
  }
}
