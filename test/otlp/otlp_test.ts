/**
 * Tests the telemetry with a real receiver: rotel, an OpenTelemetry collector from PyPI, which prints what it
 * receives.
 *
 *     deno task test:telemetry
 */

import { assert, assertEquals, assertLess, assertMatch } from "@std/assert";
import { VERSION } from "../../src/settings/version.ts";
import { freePort } from "../support/free_port.ts";
import { until } from "../support/until.ts";
import { runTask, spawnTask } from "../support/run_task.ts";
import { readLines } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { install, installFromPyPI } from "../support/third_party_tools.ts";

const HERE = new URL("./", import.meta.url).pathname;
const CACHE = new URL("../../.cache/otlp", import.meta.url).pathname;

const isInstalled = await install(
  "an OTLP receiver",
  () => installFromPyPI(CACHE, `${HERE}requirements.txt`),
);

Deno.test({
  name: "An OTLP receiver gets the log records, spans and metrics of the service and of an audit",
  ignore: !isInstalled,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using receiver = await startReceiver();
    const { kvPath } = temp;
    const env = { ...receiver.env, HOST: "127.0.0.1", PORT: "0" };
    const service = spawnTask(["start"], { kvPath, env });
    await service.stdin.close();
    const lines: { event: string; level: string; port: number }[] = [];
    const reading = readLines(service.stderr, (line) => void lines.push(JSON.parse(line)));
    await until(() => lines.length > 0);
    const pets = `http://127.0.0.1:${lines[0].port}/v1/pets`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = '{"name":"Rex","categoryId":7}';
    const added = await fetch(pets, { method: "POST", headers, body });
    assertEquals([added.status, await added.json()], [201, { id: 1, name: "Rex", categoryId: 7 }]);
    const requestId = added.headers.get("x-request-id")!;
    const refused = await fetch(pets, { headers: { authorization: "Bearer pets_none" } });
    assertEquals((await refused.json()).status, 401);
    // Observable gauges are not read once more when the process ends.
    await until(() => receiver.text().includes("animal_store.event.age"));
    service.kill("SIGTERM");
    assertEquals((await service.status).code, 0);
    await Promise.all([reading, service.stdout.cancel()]);
    const audited = await runTask(["audit"], { kvPath, env: receiver.env });
    assertEquals(audited.code, 0, audited.stderr);
    await until(() => receiver.text().includes("animal_store.audit.success.time"));

    const text = receiver.text();
    const records = text.split(/^LogRecord #\d+$/m).slice(1).map((record) => ({
      severity: /^SeverityText: (\w+)$/m.exec(record)?.[1],
      event: /^Body: Str\(.*"event":"(\w+)"/m.exec(record)?.[1],
    }));
    const logged = lines.map(({ level, event }) => ({ severity: level.toUpperCase(), event }));
    assertEquals(records, logged);
    assert(text.includes(`-> http.response.header.x-request-id: Slice(Str(${requestId}))`));
    assertMatch(text, /^ +-> service\.name: Str\(animal-store\)$/m);
    assertMatch(text, new RegExp(`^ +-> service\\.version: Str\\(${VERSION}\\)$`, "m"));
    const instances = text.matchAll(/^ +-> service\.instance\.id: Str\((.{36})\)$/gm);
    assertEquals(new Set(Array.from(instances, ([, id]) => id)).size, 2);
    assertMatch(text, /^ +Name +: commit records$/m);
    assertMatch(text, /^ +-> Name: http\.server\.request\.duration$/m);
    const valueOf = (name: string) =>
      Number(new RegExp(`-> Name: ${name}$[^]*?^Value: ([\\d.]+)$`, "m").exec(text)?.[1]);
    assertLess(valueOf("animal_store.event.age"), 3_600);
    const auditedAt = valueOf("animal_store.audit.success.time");
    assertLess(Math.abs(Date.now() / 1_000 - auditedAt), 3_600);
    assert(!text.includes(token), "the key is not in the telemetry");
  },
});

async function startReceiver() {
  const [port, grpcPort] = [freePort(), freePort()];
  const [{ name: python }] = await Array.fromAsync(Deno.readDir(`${CACHE}/lib`));
  const agent = new Deno.Command(`${CACHE}/lib/${python}/site-packages/rotel/rotel-agent`, {
    args: [
      "start",
      ...["--otlp-http-endpoint", `127.0.0.1:${port}`],
      ...["--otlp-grpc-endpoint", `127.0.0.1:${grpcPort}`],
      ...["--exporter", "blackhole", "--debug-log-verbosity", "detailed"],
      ...["traces", "metrics", "logs"].flatMap((signal) => ["--debug-log", signal]),
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines: string[] = [];
  const reading = readLines(agent.stdout, (line) => lines.push(line));
  await until(async () => (await Deno.connect({ hostname: "127.0.0.1", port })).close());
  return {
    /** All that it has printed. */
    text: () => lines.join("\n"),
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_METRIC_EXPORT_INTERVAL: "1000",
    },
    async [Symbol.asyncDispose]() {
      agent.kill("SIGKILL");
      await agent.status;
      await reading;
    },
  };
}
