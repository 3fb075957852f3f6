import type { AuditReport } from "eventstore-less/tools";
import { formatCount, formatCounted } from "../cli/format.ts";
import { type AdviceContext, adviceOf, noteAdviceOf } from "./advice.ts";

/** The subject of a report: a store or an export, and sentences about what a sound log extends. */
export interface ReportContext extends AdviceContext {
  extended: readonly string[];
}

/** The report in words, for an operator. */
export function describeReport(
  report: AuditReport,
  { extended, ...context }: ReportContext,
): string {
  const { sound, unfinished, position, summary, hash, counts, faults, firstBadPosition } = report;
  const noted = describeNotes(report);
  if (sound) {
    const counted = [formatCounted(position, "event"), ...describeSummary(summary)].join(", ");
    return [`Sound: ${counted}.`, ...extended, `The last line's SHA-256 is ${hash}.`, ...noted]
      .join("\n");
  }
  if (faults.length === 0) return [`No result: ${unfinished}. Audit again.`, ...noted].join("\n");
  const total = sumOf(counts);
  const more = total - faults.length;
  return [
    `Not sound: ${formatCounted(total, "fault")} in ${formatCounted(position, "event")}.` +
    (firstBadPosition === undefined ? "" : ` The first bad position is ${firstBadPosition}.`),
    ...faults.map(({ message }) => `- ${message}`),
    ...(more > 0 ? [`- and ${formatCount(more)} more`] : []),
    ...(unfinished === undefined ? [] : [`${unfinished}.`]),
    `Next: ${Object.values(adviceOf(report, context))[0]}`,
    ...noted,
  ].join("\n");
}

/** The report and all advice, as one JSON object. */
export function reportInJson(report: AuditReport, context: AdviceContext): string {
  const { sound, unfinished, position, hash, counts, firstBadPosition, summary } = report;
  const { faults, notes, noteCounts } = report;
  return JSON.stringify({
    sound,
    unfinished,
    position,
    hash,
    counts,
    advice: adviceOf(report, context),
    firstBadPosition,
    faults,
    notes,
    noteCounts,
    noteAdvice: noteAdviceOf(report),
    ...summary,
  });
}

function describeSummary(summary: Record<string, number>): string[] {
  return Object.entries(summary).map(([name, number]) => formatCounted(number, name.slice(0, -1)));
}

function describeNotes(report: AuditReport): string[] {
  const { notes, noteCounts } = report;
  const more = sumOf(noteCounts) - notes.length;
  return [
    ...notes.map(({ message }) => `Note: ${message}.`),
    ...(more > 0 ? [`Note: there are ${formatCount(more)} more of these.`] : []),
    ...Object.values(noteAdviceOf(report)),
  ];
}

function sumOf(counts: Partial<Record<string, number>>): number {
  return Object.values(counts).reduce<number>((sum, number) => sum + number!, 0);
}
