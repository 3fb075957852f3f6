/** Verifies an export before a restore writes any of it. */

import { splitLines } from "../../log/lines.ts";
import type { Application } from "../../application.ts";
import { RefusedError } from "../refused_error.ts";
import type { Export } from "../tool_store.ts";
import { conversionOf, ConvertedError } from "../verify/conversion.ts";
import { LogVerifier } from "../verify/log_verifier.ts";

/** Called with the number of events, after each batch. */
type Progress = (done: number) => void;

/** Rejects with `RefusedError`: with `UnsoundError` at a fault, and with `ConvertedError` if another program made it. */
export async function verifyExport(
  application: Application,
  source: Export,
  progress?: Progress,
): Promise<LogVerifier> {
  const expectSound = (line: Uint8Array, verifier: LogVerifier) => {
    const number = verifier.position + 1;
    try {
      verifier.expectSound(line);
    } catch (error) {
      const conversion = conversionOf(application, line);
      throw conversion === undefined ? error : new ConvertedError(conversion, `Line ${number}`);
    }
  };
  const verifier = await takeLines(application, source, expectSound, progress);
  if (verifier.position === 0) {
    throw new RefusedError("export_empty", "The export has no lines");
  }
  return verifier;
}

/** Verifies all lines of an export, also after faults, to tell what its beginning lacks. */
export function readExport(
  application: Application,
  source: Export,
  progress?: Progress,
): Promise<LogVerifier> {
  return takeLines(application, source, (line, verifier) => verifier.verify(line), progress);
}

/** Gives a new verifier each line of an export. */
async function takeLines(
  application: Application,
  source: Export,
  take: (line: Uint8Array, verifier: LogVerifier) => void,
  progress: Progress = () => {},
): Promise<LogVerifier> {
  const verifier = new LogVerifier(application);
  for await (const lines of splitLines(source())) {
    for (const line of lines) take(line, verifier);
    progress(verifier.position);
  }
  return verifier;
}

/** The error about an export that has changed since it was verified. */
export function changedError(): RefusedError {
  return new RefusedError("export_changed", "The export changed while it was read");
}
