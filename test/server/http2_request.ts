import { Buffer } from "node:buffer";

/**
 * Sends one request over clear-text HTTP/2, with header fields that client libraries do not send. Resolves to
 * the text of the response's DATA frames, up to a reset of the stream.
 */
export async function http2Request(
  port: number,
  fields: [name: string, value: string][],
  body: Uint8Array,
): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const preface = new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  await writeAll(connection, [
    preface,
    frame(FRAME.settings, 0, 0, new Uint8Array()),
    frame(FRAME.headers, FLAG.endHeaders, 1, Buffer.concat(fields.map(literalField))),
    frame(FRAME.data, FLAG.endStream, 1, body),
  ]);
  let bytes = Buffer.alloc(0);
  let data = "";
  for await (const chunk of connection.readable) {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9) {
      const length = bytes[0] << 16 | bytes[1] << 8 | bytes[2];
      if (bytes.length < 9 + length) break;
      const [type, flags, stream] = [bytes[3], bytes[4], bytes[8]];
      if (stream === 1 && type === FRAME.data) {
        data += new TextDecoder().decode(bytes.subarray(9, 9 + length));
        if (flags & FLAG.endStream) return data;
      }
      if (type === FRAME.reset || type === FRAME.goAway) return data;
      bytes = bytes.subarray(9 + length);
    }
  }
  return data;
}

/** Frame types and flags (RFC 9113, section 6). */
const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, goAway: 7 };
const FLAG = { endStream: 1, endHeaders: 4 };

function frame(type: number, flags: number, stream: number, payload: Uint8Array): Uint8Array {
  const { length } = payload;
  const head = [length >> 16, length >> 8 & 255, length & 255, type, flags, 0, 0, 0, stream];
  return Buffer.concat([Uint8Array.from(head), payload]);
}

/**
 * A literal field without indexing and without Huffman coding (RFC 7541, section 6.2.2). Name and value must
 * each be shorter than 127 bytes.
 */
function literalField([name, value]: [string, string]): Uint8Array {
  const encoder = new TextEncoder();
  const texts = [name, value].map((text) => encoder.encode(text));
  return Buffer.concat([
    Uint8Array.of(0),
    ...texts.flatMap((it) => [Uint8Array.of(it.length), it]),
  ]);
}

async function writeAll(connection: Deno.Conn, parts: Uint8Array[]): Promise<void> {
  const writer = connection.writable.getWriter();
  await writer.write(Buffer.concat(parts));
  writer.releaseLock();
}
