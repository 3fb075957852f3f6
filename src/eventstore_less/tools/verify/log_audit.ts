import type { Application } from "../../application.ts";
import { unpackLines } from "../../encoding/pack_lines.ts";
import { Sha256Hex } from "../../encoding/text_forms.ts";
import { checkedContent, CHECKSUM_BYTES } from "../../store/checksum.ts";
import type { StoreEntry } from "../../store/store.ts";
import { z } from "zod";
import { RefusedError } from "../refused_error.ts";
import type { Progress, Step } from "../tool_options.ts";
import { PublishedComparison, type PublishedLog } from "../published/published_log.ts";
import type { Findings } from "./findings.ts";
import { type LineFault, LogVerifier, messageOf } from "./log_verifier.ts";

/** The end of a sound log, 0 if it is empty. With it, a later audit proves that the log was only appended to. */
export interface AuditCheckpoint {
  position: number;
  /** SHA-256 (hex) of the line at the position. */
  hash: string;
}

/** The schema of the text of a checkpoint. */
export const AuditCheckpoint: z.ZodType<AuditCheckpoint> = z.strictObject({
  position: z.int().min(0),
  hash: Sha256Hex,
});

export interface LogAuditOptions {
  /** A checkpoint from an earlier audit, which this log must extend. */
  checkpoint?: AuditCheckpoint;
  /** The published log, which this log must extend, too. */
  published?: Pick<PublishedLog, "checkpoint" | "tree">;
  step?: Step<Progress<AuditPhase>>;
}

/** An audit first checks the lines of the `log`, and then its `records`, whose number is unknown. */
export type AuditPhase = "log" | "records";

/** The part of an audit that checks the log, from a store or from an export. */
export class LogAudit {
  #findings: Findings;
  #checkpoint: AuditCheckpoint | undefined;
  #published: PublishedComparison | undefined;
  readonly verifier: LogVerifier;
  /** Whether no line has a fault. Only then do the records of the projections follow from the lines. */
  isSound = true;

  constructor(
    application: Application,
    findings: Findings,
    { checkpoint, published }: LogAuditOptions,
  ) {
    this.verifier = new LogVerifier(application);
    this.#findings = findings;
    this.#checkpoint = checkpoint;
    this.#published = published && new PublishedComparison(published.checkpoint, published.tree);
    // A checkpoint may be of position 0.
    this.#compareWithCheckpoint();
  }

  /** Verifies the next record of a store, whose key names its last position. */
  verifyRecord(entry: StoreEntry): void {
    const last = entry.key[1] as number;
    const from = this.verifier.position + 1;
    const lineFaultsBefore = this.#findings.counts.line;
    const { value } = entry;
    const content = value instanceof Uint8Array ? value.subarray(CHECKSUM_BYTES) : undefined;
    const lines = unpackLines(content);
    for (const line of lines ?? []) this.verify(line);
    const isWhole = lines !== undefined && this.verifier.position === last;
    if (isWhole && checkedContent(entry) !== undefined) return;
    // A fault of a line explains two others: a wrong checksum, and a last position that differs from the key.
    if (this.#findings.counts.line === lineFaultsBefore) {
      const fault = isWhole ? "have its checksum" : `hold exactly lines ${from} to ${last}`;
      const position = isWhole ? last : Math.min(this.verifier.position, last) + 1;
      this.#fault(`The record at position ${last} does not ${fault}`, position);
    }
    if (this.verifier.position < last) this.verifier.skipTo(last);
  }

  /** Verifies the next line. Returns whether it has an event and is sound. */
  verify(line: Uint8Array): boolean {
    const expectedPosition = this.verifier.position + 1;
    const { event, faults, notes } = this.verifier.verify(line);
    for (const note of notes) this.#findings.note(note);
    if (faults.length > 0) this.#reportFaults(faults, expectedPosition);
    this.#compareWithCheckpoint();
    this.#comparePublished((published) => published.verify(line), this.verifier.position);
    return event !== undefined && faults.length === 0;
  }

  /** Ends the check. `until` is the last position of the log, if there is a head that names it. */
  end(until = this.verifier.position): void {
    const from = this.verifier.position + 1;
    if (from <= until) {
      const which = from === until ? `Line ${from} is` : `Lines ${from} to ${until} are`;
      this.#fault(`${which} missing, although the head is at position ${until}`, from);
    }
    this.#comparePublished((published) => published.end());
    const { position } = this.#checkpoint ?? { position: 0 };
    if (position < from) return;
    const message = `The log ends at position ${from - 1}, but the checkpoint was taken at ` +
      `position ${position}: its newest events were cut off`;
    this.#findings.add("checkpoint", message, from);
  }

  /**
   * Reports the faults of a line as one fault, or as two if a newer version wrote the line and it does not fit the one
   * before.
   */
  #reportFaults(faults: readonly LineFault[], expectedPosition: number): void {
    const message = `Line ${expectedPosition}: ${messageOf(faults)}`;
    const kinds = new Set(faults.map(({ kind }) => kind));
    // A missing line is reported where it was expected.
    const position = Math.min(expectedPosition, this.verifier.position);
    if (kinds.has("other")) {
      this.#fault(message, position);
      return;
    }
    if (kinds.has("newer")) this.#fault(message, position, "newer_line");
    // Either of two lines that do not fit may have been altered.
    if (kinds.has("unlinked")) this.#fault(message, Math.max(1, position - 1));
  }

  #fault(message: string, position: number, kind: "line" | "newer_line" = "line"): void {
    this.isSound = false;
    this.#findings.add(kind, message, position);
  }

  #comparePublished(compare: (published: PublishedComparison) => void, position?: number): void {
    try {
      if (this.#published !== undefined) compare(this.#published);
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.#findings.add("published", error.message, position);
      // Further faults would only repeat this one.
      this.#published = undefined;
    }
  }

  #compareWithCheckpoint(): void {
    if (this.#checkpoint?.position !== this.verifier.position) return;
    const { position, hash } = this.#checkpoint;
    const { lastHash } = this.verifier.head;
    if (lastHash === hash) return;
    const message =
      `Line ${position} is not the one that the checkpoint was taken at: the log up ` +
      `to there was rewritten (its SHA-256 is ${lastHash}, the checkpoint says ${hash})`;
    this.#findings.add("checkpoint", message, position);
  }
}
