/**
 * A worker that opens hostile connections. The main thread starts it with the message `HostileOptions`, and
 * `"stop"` ends the replacement of closed connections. The worker posts `HostileCounts` four times a second.
 */

import net from "node:net";
import tls from "node:tls";

/**
 * `silent` never sends a byte, `kept` sends nothing after one response, `slow` sends one byte of a header
 * each second.
 */
export type HostileKind = "silent" | "kept" | "slow";

export interface HostileOptions {
  port: number;
  /** Number of connections of each kind. */
  connections: Record<HostileKind, number>;
  /** The addresses that the connections come from, in turn. */
  localAddresses: string[];
  /** Whether a connection that the proxy has dropped is replaced. */
  replaces: boolean;
}

export interface HostileCounts {
  /** Hostile connections that are open now, by kind. */
  open: Record<HostileKind, number>;
  /** Hostile connections that the proxy dropped, by kind. */
  dropped: Record<HostileKind, number>;
  /** Connections that were refused at once. */
  refused: number;
  /** Longest time from the attempt to connect until the proxy dropped a connection, by kind. */
  longestMs: Record<HostileKind, number>;
}

const TRICKLE_MS = 1_000;
const REPORT_MS = 250;
const REQUEST = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";

const counts: HostileCounts = {
  open: { silent: 0, kept: 0, slow: 0 },
  dropped: { silent: 0, kept: 0, slow: 0 },
  refused: 0,
  longestMs: { silent: 0, kept: 0, slow: 0 },
};
let isReplacing = false;
let attempts = 0;

const worker = self as unknown as {
  onmessage: (event: MessageEvent<HostileOptions | "stop">) => void;
  postMessage: (counts: HostileCounts) => void;
};

worker.onmessage = ({ data }) => {
  if (data === "stop") {
    isReplacing = false;
    return;
  }
  isReplacing = data.replaces;
  for (const kind of ["silent", "kept", "slow"] as const) {
    for (let i = 0; i < data.connections[kind]; i++) open(kind, data);
  }
  setInterval(() => worker.postMessage(counts), REPORT_MS);
};

function open(kind: HostileKind, options: HostileOptions): void {
  const { port, localAddresses } = options;
  const localAddress = localAddresses[attempts++ % localAddresses.length];
  const startedMs = performance.now();
  let isOpen = false;
  let trickle: ReturnType<typeof setInterval> | undefined;
  const onOpen = () => {
    isOpen = true;
    counts.open[kind]++;
  };
  const to = { host: "127.0.0.1", port, localAddress };
  const socket: net.Socket = kind === "silent"
    ? net.connect(to, onOpen)
    : tls.connect({ ...to, rejectUnauthorized: false } as tls.ConnectionOptions, () => {
      socket.write(kind === "kept" ? `${REQUEST}\r\n` : `${REQUEST}X-Slow: `);
      if (kind === "kept") return;
      onOpen();
      trickle = setInterval(() => socket.write("a"), TRICKLE_MS);
    });
  socket.on("data", () => {
    if (kind === "kept" && !isOpen) onOpen();
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    clearInterval(trickle);
    if (isOpen) {
      counts.open[kind]--;
      counts.dropped[kind]++;
      counts.longestMs[kind] = Math.max(counts.longestMs[kind], performance.now() - startedMs);
    } else counts.refused++;
    if (isReplacing) open(kind, options);
  });
}
