/**
 * Standard output and standard error. If the reader of a pipe stops, a write to it must not stop the thread of
 * JavaScript, nor the end of the process. So a pipe is opened once more, to write to it without blocking: its own
 * descriptor may be shared with other programs.
 */

import { constants, fstatSync, openSync, write } from "node:fs";
import { Socket } from "node:net";
import process from "node:process";

type Write = (bytes: Uint8Array) => Promise<number>;

/** Resolves to the number of bytes that were written, at least one. Rejects with the code EPIPE if the pipe is closed. */
export const writeStdout: Write = writerOf(1);

/** Resolves to the number of bytes that were written, at least one. */
export const writeStderr: Write = writerOf(2);

/** Whether the environment turns colours off (NO_COLOR). */
export const isNoColor = (): boolean => (process.env.NO_COLOR ?? "") !== "";

function writerOf(descriptor: number): Write {
  let writeBytes: Write | undefined;
  return (bytes) => {
    writeBytes ??= isStream(descriptor) ? streamWriter(descriptor) : fileWriter(descriptor);
    return writeBytes(bytes);
  };
}

/** Whether it is a pipe or a socket. */
function isStream(descriptor: number): boolean {
  const found = fstatSync(descriptor);
  return found.isFIFO() || found.isSocket();
}

function streamWriter(descriptor: number): Write {
  const socket = new Socket({ fd: reopened(descriptor), readable: false, writable: true });
  // The callback of the write reports the error.
  socket.on("error", () => {});
  socket.unref();
  return (bytes) =>
    new Promise((resolve, reject) => {
      socket.ref();
      socket.write(bytes, (error) => {
        socket.unref();
        if (error) reject(error);
        else resolve(bytes.length);
      });
    });
}

/** Linux can open a pipe again by its descriptor, but not a socket, and not the pipe of another user. */
function reopened(descriptor: number): number {
  try {
    const flags = constants.O_WRONLY | constants.O_NONBLOCK;
    return openSync(`/proc/self/fd/${descriptor}`, flags);
  } catch {
    return descriptor;
  }
}

function fileWriter(descriptor: number): Write {
  return (bytes) =>
    new Promise((resolve, reject) => {
      write(descriptor, bytes, (error, written) => error ? reject(error) : resolve(written));
    });
}
