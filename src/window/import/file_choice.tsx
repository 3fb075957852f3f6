/** The choice of a file: by a button, or by dropping it on the page. */

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface FileChoiceProps {
  hasFile: boolean;
  onFile: (file: File) => void;
}

export function FileChoice({ hasFile, onFile }: FileChoiceProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const isOver = useDrop(onFile);
  const open = () => {
    // Otherwise the browser does not report the same file, which may have changed.
    input.current!.value = "";
    input.current!.click();
  };
  const area = isOver ? "drop over" : "drop";
  return (
    <div class={hasFile ? "" : area}>
      {!hasFile && <p>Drop your file here, or</p>}
      <button type="button" class={hasFile ? "link" : "primary"} onClick={open}>
        {hasFile ? "Choose another file" : "Choose a file"}
      </button>
      <input
        ref={input}
        type="file"
        hidden
        aria-label="File"
        accept=".csv,.tsv,.txt,.xlsx,text/csv"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          if (file !== undefined) onFile(file);
        }}
      />
    </div>
  );
}

/** Takes a file that is dropped anywhere, because the browser would leave the page. Returns whether one is above it. */
function useDrop(onFile: (file: File) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  useEffect(() => {
    const onDragOver = (event: DragEvent) => {
      event.preventDefault();
      setIsOver(true);
    };
    const onDragLeave = ({ relatedTarget }: DragEvent) => {
      if (relatedTarget === null) setIsOver(false);
    };
    const onDrop = (event: DragEvent) => {
      event.preventDefault();
      setIsOver(false);
      const file = event.dataTransfer?.files[0];
      if (file !== undefined) onFile(file);
    };
    addEventListener("dragover", onDragOver);
    addEventListener("dragleave", onDragLeave);
    addEventListener("drop", onDrop);
    return () => {
      removeEventListener("dragover", onDragOver);
      removeEventListener("dragleave", onDragLeave);
      removeEventListener("drop", onDrop);
    };
  }, [onFile]);
  return isOver;
}
