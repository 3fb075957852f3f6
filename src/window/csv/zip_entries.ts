/** The files in a zip archive, by its central directory, and their texts. A workbook of Excel is such an archive. */

const LOCAL_HEADER = 0x04034b50;
const ENTRY = 0x02014b50;
const END = 0x06054b50;
const END_LENGTH = 22;
/** The comment after the end has 16 bits of length. */
const COMMENT_MAX_LENGTH = 0xffff;
const ENTRY_LENGTH = 46;
const LOCAL_LENGTH = 30;
const IS_ENCRYPTED = 1;
const DEFLATED = 8;

export interface ZipEntry {
  name: string;
  isEncrypted: boolean;
  isDeflated: boolean;
  packedSize: number;
  /** The size that the archive says: who reads more than this reads a bomb. */
  size: number;
  offset: number;
  /** Its bytes in the directory. */
  record: Uint8Array;
}

/** Whether a file begins as an archive does. */
export function isZip(bytes: Uint8Array): boolean {
  return bytes.length >= LOCAL_LENGTH && dataViewOf(bytes).getUint32(0, true) === LOCAL_HEADER;
}

/** Throws a `RangeError` if the archive is damaged. */
export function zipEntries(bytes: Uint8Array): ZipEntry[] {
  const view = dataViewOf(bytes);
  const end = endOf(view);
  const count = view.getUint16(end + 10, true);
  const entries: ZipEntry[] = [];
  let place = view.getUint32(end + 16, true);
  for (let index = 0; index < count; index++) {
    if (view.getUint32(place, true) !== ENTRY) throw new RangeError("No entry of an archive");
    const nameLength = view.getUint16(place + 28, true);
    const extraLength = view.getUint16(place + 30, true);
    const commentLength = view.getUint16(place + 32, true);
    const length = ENTRY_LENGTH + nameLength + extraLength + commentLength;
    const name = bytes.subarray(place + ENTRY_LENGTH, place + ENTRY_LENGTH + nameLength);
    entries.push({
      name: new TextDecoder().decode(name),
      isEncrypted: (view.getUint16(place + 8, true) & IS_ENCRYPTED) !== 0,
      isDeflated: view.getUint16(place + 10, true) === DEFLATED,
      packedSize: view.getUint32(place + 20, true),
      size: view.getUint32(place + 24, true),
      offset: view.getUint32(place + 42, true),
      record: bytes.subarray(place, place + length),
    });
    place += length;
  }
  return entries;
}

function endOf(view: DataView): number {
  const last = view.byteLength - END_LENGTH;
  for (let place = last; place >= Math.max(0, last - COMMENT_MAX_LENGTH); place--) {
    if (view.getUint32(place, true) === END) return place;
  }
  throw new RangeError("No end of an archive");
}

/** The archive with a directory of some of its entries, so that a reader finds no others. */
export function archiveOf(bytes: Uint8Array, entries: readonly ZipEntry[]): Uint8Array {
  const length = entries.reduce((sum, { record }) => sum + record.length, 0);
  const archive = new Uint8Array(bytes.length + length + END_LENGTH);
  archive.set(bytes);
  let place = bytes.length;
  for (const { record } of entries) {
    archive.set(record, place);
    place += record.length;
  }
  const view = new DataView(archive.buffer, place);
  view.setUint32(0, END, true);
  view.setUint16(8, entries.length, true);
  view.setUint16(10, entries.length, true);
  view.setUint32(12, length, true);
  view.setUint32(16, bytes.length, true);
  return archive;
}

/** Rejects if the text is longer than its entry says. */
export async function textOfEntry(
  bytes: Uint8Array<ArrayBuffer>,
  entry: ZipEntry,
): Promise<string> {
  const view = dataViewOf(bytes);
  const { offset, packedSize, size, isDeflated } = entry;
  const nameLength = view.getUint16(offset + 26, true);
  const extraLength = view.getUint16(offset + 28, true);
  const start = offset + LOCAL_LENGTH + nameLength + extraLength;
  const packed = bytes.subarray(start, start + packedSize);
  if (!isDeflated) return new TextDecoder().decode(packed);
  const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  // Safari has no loop over a stream.
  const reader = unpacked.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text;
    length += value.length;
    if (length > size) throw new RangeError("An entry is larger than it says");
    text += decoder.decode(value, { stream: true });
  }
}

function dataViewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
