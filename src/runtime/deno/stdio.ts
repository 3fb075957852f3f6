/**
 * Standard output and standard error. If the reader of a pipe stops, a write to it hangs. Of the ways to write that were
 * tried on Deno 2.9.6, only this one then leaves the thread of JavaScript free: `node:fs`, `node:process` and `console`
 * stop it, also at the exit.
 */

/** Resolves to the number of bytes that were written, at least one. Rejects with the code EPIPE if the pipe is closed. */
export const writeStdout = (bytes: Uint8Array): Promise<number> => Deno.stdout.write(bytes);

/** Resolves to the number of bytes that were written, at least one. */
export const writeStderr = (bytes: Uint8Array): Promise<number> => Deno.stderr.write(bytes);

/** Whether the environment turns colours off (NO_COLOR). */
export const isNoColor = (): boolean => Deno.noColor;
