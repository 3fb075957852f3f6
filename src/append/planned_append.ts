import { assertNever } from "../../events/assert_never.ts";
import { encodeEvent, type RecordedEvent, type RecordedLine } from "../../events/event.ts";
import { encodeUtf8Pooled } from "../encoding/encode_utf8_pooled.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import type { Head } from "../log/head.ts";
import type { Command } from "./command.ts";

/** The part that one command adds to a commit on `head`. */
export interface PlannedAppend {
  head: Head;
  next: Head;
  lines: RecordedLine[];
}

/** Plans what a prepared command adds to a commit on `head`. Throws the refusal of the command. */
export function planAppend(command: Command, head: Head): PlannedAppend {
  const lines: RecordedLine[] = [];
  let next = head;
  for (const decided of command.decide(head)) {
    const event = { ...decided, position: next.position + 1, previousHash: next.lastHash };
    const line = encodeUtf8Pooled(encodeEvent(event));
    next = headAfter(next, event, line);
    lines.push({ event, line });
  }
  return { head, next, lines };
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
