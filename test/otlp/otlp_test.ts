/**
 * Tests the telemetry with a real receiver: rotel, an OpenTelemetry collector from PyPI, which prints what it
 * receives.
 *
 *     deno task test:telemetry
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { permitted } from "../support/permitted.ts";
import { runTask, spawnTask } from "../support/run_task.ts";
import { TempStore } from "../support/temp_store.ts";

const HERE = new URL("./", import.meta.url).pathname;
const CACHE = new URL("../../.cache/otlp", import.meta.url).pathname;

const obstacle = permitted("env", "net", "read", "run", "write")
  ? await installRotel()
  : "they need all permissions";
if (obstacle !== undefined) console.log(`Left out the tests with an OTLP receiver: ${obstacle}`);

Deno.test({
  name: "An OTLP receiver gets the log records, spans and metrics of the service and of an audit",
  ignore: obstacle !== undefined,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    await using receiver = await Receiver.start();
    const { kvPath } = temp;
    const port = freePort();
    const env = { ...receiver.env, HOST: "127.0.0.1", PORT: String(port) };
    const service = spawnTask(["start"], { kvPath, env });
    await service.stdin.close();
    const pets = `http://127.0.0.1:${port}/v1/pets`;
    await waitUntil(() =>
      fetch(`http://127.0.0.1:${port}/readyz`).then((it) => it.ok, () => false)
    );
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = '{"name":"Rex","categoryId":7}';
    const response = await fetch(pets, { method: "POST", headers, body });
    assertEquals(response.status, 201);
    await response.body?.cancel();
    const requestId = response.headers.get("x-request-id")!;
    const refused = await fetch(pets, { headers: { authorization: "Bearer pets_none" } });
    assertEquals(refused.status, 401);
    await refused.body?.cancel();
    // Observable gauges are not read once more when the process ends.
    await waitUntil(() => receiver.text.includes("animal_store.event.age"));
    service.kill("SIGTERM");
    const { code, stderr } = await service.output();
    assertEquals(code, 0);
    const audited = await runTask(["audit"], { kvPath, env: receiver.env });
    assertEquals(audited.code, 0, audited.stderr);
    await waitUntil(() => receiver.text.includes("animal_store.audit.success.time"));

    const { text } = receiver;
    const records = text.split(/^LogRecord #\d+$/m).slice(1).map((record) => ({
      severity: /^SeverityText: (\w+)$/m.exec(record)?.[1],
      event: /^Body: Str\(.*"event":"(\w+)"/m.exec(record)?.[1],
    }));
    const lines = new TextDecoder().decode(stderr).trim().split("\n").map((it) => JSON.parse(it));
    assertEquals(
      records.map(({ severity, event }) => [severity, event]),
      lines.map(({ level, event }) => [level.toUpperCase(), event]),
    );
    assert(lines.some(({ event }) => event === "listening"));
    assert(text.includes(`-> http.response.header.x-request-id: Slice(Str(${requestId}))`));
    assertMatch(text, /^ +-> service\.name: Str\(animal-store\)$/m);
    for (const name of ["POST /v1/pets", "append", "commit records", "get head"]) {
      assertMatch(text, new RegExp(`^ +Name +: ${name}$`, "m"));
    }
    for (
      const name of [
        "http.server.request.duration",
        "db.client.operation.duration",
        "animal_store.events.appended",
        "animal_store.event.age",
      ]
    ) assertMatch(text, new RegExp(`^ +-> Name: ${name}$`, "m"));
    const [, age] = /-> Name: animal_store\.event\.age$[^]*?^Value: ([\d.]+)$/m.exec(text)!;
    assert(Number(age) < 60, age);
    const [, time] = /-> Name: animal_store\.audit\.success\.time$[^]*?^Value: ([\d.]+)$/m.exec(
      text,
    )!;
    assert(Math.abs(Date.now() / 1_000 - Number(time)) < 60, time);
    assert(!text.includes(token), "the key is not in the telemetry");
  },
});

class Receiver implements AsyncDisposable {
  /** All that it has printed. */
  text = "";
  readonly env: Record<string, string>;
  #process: Deno.ChildProcess;
  #reading: Promise<void>;

  private constructor(process: Deno.ChildProcess, port: number) {
    this.#process = process;
    this.env = {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_METRIC_EXPORT_INTERVAL: "1000",
    };
    this.#reading = this.#read();
  }

  static async start(): Promise<Receiver> {
    const [port, grpcPort] = [freePort(), freePort()];
    const [agent] = await agents();
    const signals = ["traces", "metrics", "logs"].flatMap((signal) => ["--debug-log", signal]);
    const process = new Deno.Command(agent, {
      args: [
        "start",
        ...["--otlp-http-endpoint", `127.0.0.1:${port}`],
        ...["--otlp-grpc-endpoint", `127.0.0.1:${grpcPort}`],
        ...["--exporter", "blackhole", "--debug-log-verbosity", "detailed"],
        ...signals,
      ],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    await waitUntil(async () => {
      try {
        (await Deno.connect({ hostname: "127.0.0.1", port })).close();
        return true;
      } catch {
        return false;
      }
    });
    return new Receiver(process, port);
  }

  async #read(): Promise<void> {
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      this.text += text;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
    await this.#reading;
  }
}

/** Waits up to ten seconds. */
async function waitUntil(condition: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 10_000;
  while (!await condition()) {
    if (performance.now() > end) throw new Error(`Waited in vain: ${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Installs the receiver. Resolves to the obstacle if that is impossible. */
async function installRotel(): Promise<string | undefined> {
  try {
    if ((await agents()).length > 0) return undefined;
    const requirements = `${HERE}requirements.txt`;
    for (
      const [program, ...args] of [
        ["python3", "-m", "venv", CACHE],
        [`${CACHE}/bin/pip`, "install", "--quiet", "-r", requirements],
      ]
    ) {
      const { success } = await new Deno.Command(program, { args, stderr: "null" }).output();
      if (!success) return `${program} failed`;
    }
    return (await agents()).length > 0 ? undefined : "the package has no program";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "python3 is not installed";
    throw error;
  }
}

/** The paths of the receiver's program: one if it is installed. */
async function agents(): Promise<string[]> {
  const paths: string[] = [];
  for (const { name } of await Array.fromAsync(readDirIfThere(`${CACHE}/lib`))) {
    const path = `${CACHE}/lib/${name}/site-packages/rotel/rotel-agent`;
    if (await Deno.stat(path).then(() => true, () => false)) paths.push(path);
  }
  return paths;
}

async function* readDirIfThere(path: string): AsyncGenerator<Deno.DirEntry> {
  try {
    yield* Deno.readDir(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
