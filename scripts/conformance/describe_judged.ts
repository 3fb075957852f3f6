import type { Judged, Verdict } from "../../test/interface/conformance.ts";
import type { Level } from "../../test/interface/sections.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { formatCount, formatCounted } from "../cli/format.ts";

/** A response may be a whole list. */
const SHOWN_CHARACTERS = 2_000;

/** One line, and what was sent, expected and came if the clause is broken. */
export function describeVerdict(verdict: Verdict): string {
  const line = `${verdict.verdict.padEnd("not tried".length)}  ${verdict.clause}`;
  switch (verdict.verdict) {
    case "held":
      return line;
    case "not tried":
      return `${line}: ${escapeInvisible(verdict.reason)}`;
    case "broken": {
      const { request, expected, came } = verdict.breach;
      const parts = [["sent", request], ["expected", expected], ["came", came]];
      return [line, ...parts.flatMap(([title, text]) => [`  ${title}:`, indented(text)])]
        .join("\n");
    }
  }
}

function indented(text: string): string {
  const isLong = text.length > SHOWN_CHARACTERS;
  const shown = isLong ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  return escapeInvisible(shown).replaceAll(/^/gm, "    ");
}

export function describeSummary(judged: Judged): string {
  const { verdicts, left } = judged;
  const held = formatCount(countOf(verdicts, "held"));
  const broken = formatCount(countOf(verdicts, "broken"));
  const notTried = formatCount(countOf(verdicts, "not tried"));
  const total = formatCounted(verdicts.length, "clause");
  const counts = `${total}: ${held} held, ${broken} broken, ${notTried} not tried`;
  return left.length === 0 ? counts : `${counts}\n${describeLeft(judged)}`;
}

/** Names what the stories have added and the service has not removed. */
export function describeLeft({ left }: Pick<Judged, "left">): string {
  if (left.length === 0) return "All that was added is removed.";
  return `The service did not remove what was added: ${escapeInvisible(left.join(" "))}`;
}

export function reportInJson(
  { base, level, verdicts, left }: Judged & { base: string; level: Level },
): string {
  const counts = {
    held: countOf(verdicts, "held"),
    broken: countOf(verdicts, "broken"),
    notTried: countOf(verdicts, "not tried"),
  };
  return escapeInvisible(JSON.stringify({ base, level, ...counts, clauses: verdicts, left }));
}

export function countOf(verdicts: readonly Verdict[], kind: Verdict["verdict"]): number {
  return verdicts.filter(({ verdict }) => verdict === kind).length;
}
