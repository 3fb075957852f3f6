import { assertEquals } from "@std/assert";
import { BUILT_PROGRAM, NODE } from "../support/programs.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { testNeeding } from "../support/test_needing.ts";
import { ROOT } from "../support/with_project_copy.ts";

/** Each chunk is larger than the buffer of a response, so the server waits for the client after each. */
const CHUNK_BYTES = 1024 * 1024;

/** Node warns of a leak if an object has more than ten listeners of one event. */
const CHUNKS = 20;

/** Responds once with a stream, and then ends. */
const PROGRAM = `
import { serveHttp } from "${ROOT}src/runtime/node/http_server.ts";
let left = ${CHUNKS};
const pull = (controller) => {
  if (left-- > 0) controller.enqueue(new Uint8Array(${CHUNK_BYTES}));
  else {
    controller.close();
    void server.shutdown();
  }
};
const server = await serveHttp({
  hostname: "127.0.0.1",
  respond: async (_, write) => write({ status: 200, headers: {}, body: new ReadableStream({ pull }) }),
});
console.error(JSON.stringify({ event: "listening", port: server.address.port }));`;

testNeeding(BUILT_PROGRAM)(
  "On Node, a stream that waits for its client after each chunk keeps no listener of each wait",
  async () => {
    const sources = ["--import", `${ROOT}test/node/load_sources.ts`];
    const command = [NODE, ...sources, "--input-type=module", "--eval", PROGRAM];
    await using service = await ServiceProcess.start(":memory:", {}, command);
    const response = await fetch(service.address);
    assertEquals((await response.arrayBuffer()).byteLength, CHUNKS * CHUNK_BYTES);
    assertEquals(await service.ended(), 0);
    assertEquals(service.lines.slice(1), [], "Node has warned");
  },
);
