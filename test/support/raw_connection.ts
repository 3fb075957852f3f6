import { until } from "./until.ts";

/** Opens a TCP connection to a server on this machine, to send bytes that HTTP clients do not send. */
export async function connect(port: number) {
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const decoder = new TextDecoder();
  let received = "";
  let ended = false;
  const reading = (async () => {
    for await (const chunk of connection.readable) received += decoder.decode(chunk);
  })().catch(() => {}).finally(() => ended = true);
  return {
    /** Received text that answer() has not taken. */
    get received() {
      return received;
    },
    get ended() {
      return ended;
    },
    async write(sent: string | Uint8Array<ArrayBuffer>) {
      const bytes = typeof sent === "string" ? new TextEncoder().encode(sent) : sent;
      const writer = connection.writable.getWriter();
      await writer.write(bytes).catch(() => {});
      writer.releaseLock();
    },
    closeWrite: () => connection.closeWrite().catch(() => {}),
    /** Takes the received text up to the end of a JSON object, an empty body or the connection. */
    async answer() {
      await until(() => ended || /\r\n\r\n.*}$/.test(received) || /length: 0\r\n/.test(received));
      const answer = received;
      received = "";
      return answer;
    },
    /** The received text after a short wait, or once the server closes the connection. */
    async rest() {
      await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 100))]);
      return received;
    },
    /** Sends as much as the server accepts within a time, up to a limit. Resolves to the number of bytes. */
    async flood(ms: number, limitBytes: number) {
      const chunk = new Uint8Array(65_536).fill(0x78);
      const writer = connection.writable.getWriter();
      let sent = 0;
      const isOver = new Promise<true>((resolve) => setTimeout(() => resolve(true), ms));
      while (sent < limitBytes) {
        const written = writer.write(chunk).then(() => false, () => true);
        if (await Promise.race([written, isOver])) break;
        sent += chunk.length;
      }
      return sent;
    },
    [Symbol.dispose]() {
      try {
        connection.close();
      } catch {
        // It is already closed.
      }
    },
  };
}
