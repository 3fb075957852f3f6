/** The file that the reader of the page has chosen, as far as it is read. */

import { useEffect, useRef, useState } from "preact/hooks";
import { fileKind } from "../csv/file_kind.ts";
import { loadWorkbook } from "../csv/load_workbook.ts";
import { type Draft, draftOf, draftOfWorkbook, type FileBytes } from "./draft.ts";
import { FILE_MAX_BYTES } from "./table.ts";

export interface ChosenFileState {
  /** `undefined` until a file is read. */
  draft: Draft | undefined;
  isReading: boolean;
  fault: string | undefined;
  setFault: (fault: string | undefined) => void;
  /** Takes another draft, which `make` returns, or shows the error that it throws. */
  take: (make: () => Draft) => void;
  choose: (file: File) => void;
  /** Reads another sheet of the workbook. */
  chooseSheet: (sheet: number) => void;
}

export function useChosenFile(): ChosenFileState {
  const [draft, setDraft] = useState<Draft | undefined>(undefined);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const [isReading, setIsReading] = useState(false);
  const reading = useRef(new AbortController());
  // Nobody waits for a file when the dialog is closed.
  useEffect(() => () => reading.current.abort(), []);
  const showFault = (error: unknown) => setFault((error as Error).message);
  const read = async (readDraft: (signal: AbortSignal) => Promise<Draft>) => {
    reading.current.abort();
    const latest = new AbortController();
    reading.current = latest;
    setIsReading(true);
    setFault(undefined);
    try {
      setDraft(await readDraft(latest.signal));
    } catch (error) {
      if (!latest.signal.aborted) showFault(error);
    } finally {
      if (reading.current === latest) setIsReading(false);
    }
  };
  return {
    draft,
    isReading,
    fault,
    setFault,
    take(make) {
      try {
        setDraft(make());
        setFault(undefined);
      } catch (error) {
        showFault(error);
      }
    },
    choose(file) {
      setDraft(undefined);
      read((signal) => readFile(file, signal));
    },
    chooseSheet(sheet) {
      const { fileName, bytes } = draft!;
      read((signal) => readSheet(fileName, bytes, sheet, signal));
    },
  };
}

/** Rejects with an error for people, or if the signal is aborted. */
async function readFile(file: File, signal: AbortSignal): Promise<Draft> {
  const bytes = await bytesOf(file);
  signal.throwIfAborted();
  if (fileKind(bytes) === "text") return draftOf(file.name, bytes);
  return await readSheet(file.name, bytes, undefined, signal);
}

async function readSheet(
  fileName: string,
  bytes: FileBytes,
  sheet: number | undefined,
  signal: AbortSignal,
): Promise<Draft> {
  return draftOfWorkbook(fileName, bytes, await loadWorkbook({ bytes, sheet }, signal));
}

/** Rejects with an error for people. */
async function bytesOf(file: File): Promise<FileBytes> {
  if (file.size > FILE_MAX_BYTES) throw new Error("The file has more than 20 megabytes");
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch {
    throw new Error("The browser cannot read the file");
  }
}
