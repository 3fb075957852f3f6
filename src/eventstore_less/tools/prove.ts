import { Buffer } from "node:buffer";
import { linesOf } from "./lines_of.ts";
import { readPublished } from "./published/published_folder.ts";
import { PublishedLog } from "./published/published_log.ts";
import { RefusedError } from "./refused_error.ts";
import { type Progress, stepOf, type ToolOptions } from "./tool_options.ts";
import type { ExportedLog, ToolStore } from "./tool_store.ts";

export interface Proof {
  /** The text that outsiders verify together with the line (https://c2sp.org/tlog-proof). */
  proof: string;
  position: number;
  /** The line that is proven, without its line feed. */
  line: Uint8Array;
  /** Number of events of the published log. */
  size: number;
  /** Of a subject, the position of the event before its newest one, if there is one. */
  before?: number;
}

/** Opens what was published in a folder. Throws `RefusedError`, or `ToolError` (`not_published`). */
export function openPublished(folder: string): PublishedLog {
  return new PublishedLog(readPublished(folder));
}

/**
 * Proves that an event is in the log that is published in a folder: the one at a position, or the newest one of a subject,
 * such as `bookings/7`. The line is taken from the store or the export, and compared with what was published. Rejects
 * with `RefusedError`: `not_found`, `not_published` (yet), `published_differs`, `published_damaged` or
 * `signature_invalid`.
 *
 * ```ts
 * const { proof, line } = await prove("published", 7, store);
 * ```
 */
export async function prove(
  folder: string,
  event: number | string,
  log: ToolStore | ExportedLog,
  options: ToolOptions<Progress<"search">> = {},
): Promise<Proof> {
  const published = openPublished(folder);
  const found = typeof event === "number"
    ? await lineAt(event, log, options)
    : await newestLineOf(event, log, options);
  const proof = published.proveInclusion(found.line, found.position);
  return { proof, ...found, size: published.checkpoint.size };
}

type Found = Pick<Proof, "line" | "position" | "before">;

async function lineAt(
  position: number,
  log: ToolStore | ExportedLog,
  options: ToolOptions<Progress<"search">>,
): Promise<Found> {
  stepOf(options);
  for await (const [line] of linesOf(log, position)) {
    if (line !== undefined) return { line, position };
  }
  throw new RefusedError("not_found", `The log ends before line ${position}`);
}

async function newestLineOf(
  subject: string,
  log: ToolStore | ExportedLog,
  options: ToolOptions<Progress<"search">>,
): Promise<Found> {
  const step = stepOf(options);
  const member = `"subject":${JSON.stringify(subject)}`;
  let found: Found | undefined;
  let position = 0;
  for await (const lines of linesOf(log)) {
    for (const line of lines) {
      position++;
      const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
      const isFound = bytes.includes(member) && subjectIn(bytes) === subject;
      if (isFound) found = { line, position, before: found?.position };
    }
    step({ phase: "search", done: position });
  }
  if (found !== undefined) return found;
  throw new RefusedError("not_found", `The log has no event about ${subject}`);
}

/** The subject of a line; `undefined` if it is not JSON. Data may have a member of that name, too. */
function subjectIn(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString()).subject;
  } catch {
    return undefined;
  }
}
