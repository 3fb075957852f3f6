import { assertEquals, assertLess, assertMatch } from "@std/assert";
import { runTask } from "./support/run_task.ts";
import { ServiceProcess } from "./support/service_process.ts";
import { permitted } from "./support/permitted.ts";

Deno.test({
  name:
    "a service told to end answers 503 to a body that does not arrive, and ends within 5 seconds",
  ignore: !permitted("read", "write", "net", "run", "env"),
  async fn() {
    const folder = await Deno.makeTempDir();
    const kvPath = `${folder}/pets.sqlite3`;
    const { stdout: token } = await runTask(["keys", "issue", "--label", "test"], { kvPath });
    await using service = await ServiceProcess.start(kvPath);
    const port = Number(new URL(service.address).port);
    using idle = await Deno.connect({ hostname: "127.0.0.1", port });
    using slow = await Deno.connect({ hostname: "127.0.0.1", port });
    await send(idle, "GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n");
    assertMatch(await receive(idle), /^HTTP\/1.1 200 /);
    const lines = [
      "POST /v1/pets HTTP/1.1",
      "host: localhost",
      `authorization: Bearer ${token.trim()}`,
      "content-type: application/json",
      "content-length: 100",
    ];
    await send(slow, `${lines.join("\r\n")}\r\n\r\n{"name":`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const told = performance.now();
    const ending = service.stop();

    assertMatch(await receive(slow), /^HTTP\/1.1 503 [^]*"code":"shutting_down"/);
    assertEquals(await ending, 0);
    assertLess(performance.now() - told, 5_000);
    const { stdout: log } = await runTask(["log", "--type", "PetCreated"], { kvPath });
    assertEquals(log, "");
    await Deno.remove(folder, { recursive: true });
  },
});

async function send(socket: Deno.Conn, text: string): Promise<void> {
  await socket.write(new TextEncoder().encode(text));
}

/** What comes in one piece, as a small answer does. */
async function receive(socket: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(4_096);
  const length = await socket.read(buffer);
  return new TextDecoder().decode(buffer.subarray(0, length ?? 0));
}
