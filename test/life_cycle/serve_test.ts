import { assertEquals, assertLess, assertMatch } from "@std/assert";
import { spawnTask } from "../support/run_task.ts";
import { LoadClient } from "../support/load_client.ts";
import { connect } from "../support/raw_connection.ts";
import { permitted } from "../support/permitted.ts";
import { readLines, ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";

const END_LIMIT_MS = 5_000;

const ignore = !permitted("read", "write", "net", "run", "env");

Deno.test({
  name: "serve() on SIGTERM answers 503 to an incomplete body, and ends within 5 seconds",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using service = await ServiceProcess.start(temp.kvPath);
    const port = Number(new URL(service.address).port);
    using idle = await connect(port);
    using slow = await connect(port);
    await idle.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assertMatch(await idle.answer(), /^HTTP\/1.1 200 /);
    await slow.write(
      "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
        `Authorization: Bearer ${token}\r\nContent-Length: 100\r\n\r\n{"name":`,
    );
    await slow.rest();
    const signalledAt = performance.now();
    const ending = service.stop();
    assertMatch(await slow.answer(), /^HTTP\/1.1 503 [^]*"code":"shutting_down"/);
    assertEquals(await ending, 0);
    assertLess(performance.now() - signalledAt, END_LIMIT_MS);
    await temp.use(async ({ heads }) => assertEquals((await heads.fresh()).head.lastPetId, 0));
  },
});

for (const signal of ["SIGTERM", "SIGINT"] as const) {
  Deno.test({
    name: `serve() on ${signal} under load finishes accepted requests and ends with exit code 0`,
    ignore,
    async fn() {
      await using temp = await TempStore.make();
      const token = await temp.issueKey();
      await using service = await ServiceProcess.start(temp.kvPath);
      const load = new LoadClient({
        services: () => [service],
        token,
        connections: 64,
        faults: "process",
      });
      let stopped: Promise<number> | undefined;
      await load.run(() => {
        if (load.acknowledged.size >= 300) stopped ??= service.stop(signal);
        return stopped !== undefined;
      });
      assertEquals(await stopped, 0);
      await temp.use(async (operator) => {
        await load.expectLogged(operator);
        const { lastPetId } = (await operator.heads.fresh()).head;
        assertEquals(lastPetId, load.acknowledged.size, "every stored pet was acknowledged");
      });
      assertEquals(service.lines.map((line) => JSON.parse(line).event), [
        "listening",
        "shutting_down",
        "stopped",
      ]);
    },
  });
}

/** An OTLP receiver that accepts connections and never answers. */
function silentReceiver() {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const env = {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${listener.addr.port}`,
    // Deno's exit waits for ever if metrics become due meanwhile.
    OTEL_METRIC_EXPORT_INTERVAL: "200",
  };
  return { env, [Symbol.dispose]: () => listener.close() };
}

Deno.test({
  name:
    "SIGTERM and SIGINT end the service within 5 seconds although the OTLP receiver never answers",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    using receiver = silentReceiver();
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const env = { ...receiver.env, HOST: "127.0.0.1", PORT: "0" };
      const service = spawnTask(["start"], { kvPath: temp.kvPath, env });
      let signalledAt = 0;
      let last = "";
      await readLines(service.stderr, (line) => {
        last = JSON.parse(line).event;
        if (last !== "listening") return;
        signalledAt = performance.now();
        service.kill(signal);
      });
      const { code } = await service.status;
      const ms = performance.now() - signalledAt;
      assertEquals([code, last], [0, "stopped"]);
      assertLess(ms, END_LIMIT_MS);
      await Promise.all([service.stdin.close(), service.stdout.cancel()]);
    }
  },
});

Deno.test({
  name:
    "A command ends with its exit code, 5 seconds after its output, although the OTLP receiver never answers",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    await temp.issueKey();
    const empty = `${temp.folder}/empty.jsonl`;
    await Deno.writeTextFile(empty, "");
    using receiver = silentReceiver();
    const commands: [args: string[], code: number][] = [
      [["audit"], 0],
      [["audit", "--file", empty], 1],
      [["audit", "--none"], 2],
    ];
    for (const [args, expected] of commands) {
      const task = spawnTask(args, { kvPath: temp.kvPath, env: receiver.env });
      let printedAt = 0;
      const onLine = () => printedAt ||= performance.now();
      await Promise.all([readLines(task.stdout, onLine), readLines(task.stderr, onLine)]);
      const { code } = await task.status;
      assertLess(performance.now() - printedAt, END_LIMIT_MS);
      assertEquals(code, expected);
      await task.stdin.close();
    }
  },
});
