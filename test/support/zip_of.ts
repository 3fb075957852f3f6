/** Makes zip archives, also false ones. */

import { deflateRawSync } from "node:zlib";

export interface ZippedFile {
  name: string;
  content: string | Uint8Array;
  /** The size that the archive says, if that is a lie. */
  saidSize?: number;
  isEncrypted?: boolean;
}

/** An archive of compressed files, without checksums. */
export function zipOf(files: readonly ZippedFile[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, content, saidSize, isEncrypted } of files) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    const packed = deflateRawSync(bytes);
    const nameBytes = new TextEncoder().encode(name);
    const sizes = [0, packed.length, saidSize ?? bytes.length];
    const flags = isEncrypted ? 1 : 0;
    const local = header(0x04034b50, [20, flags, 8, 0, 0], sizes, [nameBytes.length, 0]);
    const entry = header(0x02014b50, [20, 20, flags, 8, 0, 0], sizes, [
      nameBytes.length,
      0,
      0,
      0,
      0,
    ], [
      0,
      offset,
    ]);
    parts.push(local, nameBytes, packed);
    directory.push(entry, nameBytes);
    offset += local.length + nameBytes.length + packed.length;
  }
  const directoryLength = directory.reduce((sum, { length }) => sum + length, 0);
  const counts = [0, 0, files.length, files.length];
  const end = header(0x06054b50, counts, [directoryLength, offset], [0]);
  return new Uint8Array([...parts, ...directory, end].flatMap((part) => [...part]));
}

/** A signature, then numbers of 16, 32, 16 and 32 bits. */
function header(
  signature: number,
  first: readonly number[],
  second: readonly number[],
  third: readonly number[],
  fourth: readonly number[] = [],
): Uint8Array {
  const length = 4 + 2 * (first.length + third.length) + 4 * (second.length + fourth.length);
  const view = new DataView(new ArrayBuffer(length));
  view.setUint32(0, signature, true);
  let place = 4;
  const put = (numbers: readonly number[], size: 2 | 4) => {
    for (const number of numbers) {
      if (size === 2) view.setUint16(place, number, true);
      else view.setUint32(place, number, true);
      place += size;
    }
  };
  put(first, 2);
  put(second, 4);
  put(third, 2);
  put(fourth, 4);
  return new Uint8Array(view.buffer);
}
