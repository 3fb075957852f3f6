/** The lines between a test and {@link serve_store.ts}: JSON, with bytes, and with the numbers that JSON lacks. */

export interface StoreCall {
  name: "get" | "list" | "snapshot" | "commit" | "close";
  args: unknown[];
}
export type StoreOutcome = { result?: unknown; error?: { name: string; message: string } };

export function toLine(message: StoreCall | StoreOutcome): string {
  return JSON.stringify(message, (_, value) => {
    if (value instanceof Uint8Array) return { bytes: [...value] };
    if (typeof value === "number" && !Number.isFinite(value)) return { number: String(value) };
    return value;
  });
}

export function fromLine(line: string): unknown {
  return JSON.parse(line, (_, value) => {
    if (Array.isArray(value?.bytes)) return Uint8Array.from(value.bytes);
    return typeof value?.number === "string" ? Number(value.number) : value;
  });
}
