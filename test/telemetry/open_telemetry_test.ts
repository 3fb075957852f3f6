import { assert, assertEquals, assertLess, assertStringIncludes } from "@std/assert";
import { connect } from "../support/raw_connection.ts";
import { runTask } from "../support/run_task.ts";
import { linesToBytes, sampleLog } from "../support/sample_log.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";

const test = testNeeding(PROCESSES);

type Attributes = { key: string; value: { stringValue: string } }[];

type SentSpan = { name: string; attributes: Attributes };

type Point = { attributes?: Attributes; asInt?: string; asDouble?: number; sum?: number };

/** Starts an OpenTelemetry collector on loopback, which keeps all that it receives. */
function startCollector() {
  const spans: SentSpan[] = [];
  /** The log records: the severity and the line of each. */
  const logs: [severity: string, line: string][] = [];
  /** The last data points of each metric. */
  const metrics = new Map<string, Point[]>();
  const texts: string[] = [];
  const stop = new AbortController();
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: stop.signal };
  const server = Deno.serve(options, async (request) => {
    const text = await request.text();
    texts.push(text);
    // A small part of the OTLP JSON.
    const { resourceSpans = [], resourceMetrics = [], resourceLogs = [] } = JSON.parse(text);
    const scopes = [...resourceSpans, ...resourceMetrics, ...resourceLogs]
      .flatMap(({ scopeSpans, scopeMetrics, scopeLogs }) =>
        scopeSpans ?? scopeMetrics ?? scopeLogs
      );
    for (const scope of scopes) {
      spans.push(...scope.spans ?? []);
      for (const { name, sum, gauge, histogram } of scope.metrics ?? []) {
        metrics.set(name, (sum ?? gauge ?? histogram).dataPoints);
      }
      for (const { severityText, body } of scope.logRecords ?? []) {
        logs.push([severityText, body.stringValue.trimEnd()]);
      }
    }
    return Response.json({});
  });
  return {
    spans,
    logs,
    /** All requests, as text. */
    text: () => texts.join(""),
    metrics,
    /** The value of a metric with these attributes, if it was received. */
    valueOf(name: string, attributes: Record<string, string> = {}): number | undefined {
      const point = metrics.get(name)?.find((point) =>
        Object.entries(attributes).every(([key, value]) =>
          point.attributes?.some((one) => one.key === key && one.value.stringValue === value)
        )
      );
      return point && Number(point.asInt ?? point.asDouble ?? point.sum);
    },
    /** The variables that make a process send its telemetry to this collector. */
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${server.addr.port}`,
      OTEL_SERVICE_NAME: "pets",
    },
    async [Symbol.asyncDispose]() {
      // A killed process may have left an open connection, so do not wait for it.
      stop.abort();
      await server.finished;
    },
  };
}

test("A service with OTEL_DENO=true sends metrics, and a span for each request", async () => {
  await using collector = startCollector();
  await using store = await TempStore.make();
  const token = await store.issueKey();
  // Deno may hang at exit if an export is under way then (denoland/deno#33157), so exports are rare.
  const replaced = { OTEL_DENO_CONSOLE: "replace", OTEL_METRIC_EXPORT_INTERVAL: "1000" };
  const env = { ...collector.env, ...replaced };
  await using service = await ServiceProcess.start(store.kvPath, env);
  const add = () => service.add({ name: "Rex", categoryId: 1 }, token);
  const leave = new AbortController();
  const followed = await fetch(`${service.address}/v1/events`, {
    headers: { authorization: `Bearer ${token}`, accept: "text/event-stream" },
    signal: leave.signal,
  });
  assertEquals(followed.status, 200);
  assertEquals(await add(), 201);
  assertEquals(await Promise.all([add(), add(), add(), add(), add()]), Array(5).fill(201));
  for (let times = 0; times < 2; times++) {
    for (const path of ["/v1/pets?status=sold", "/v1/pets/1"]) {
      assertEquals(await statusOf(service.send(path, token)), 200);
    }
  }
  const change = await service.send("/v1/pets/1", token, {
    method: "PATCH",
    headers: { "content-type": "application/merge-patch+json" },
    body: '{"status":"sold"}',
  });
  assertEquals((await change.json()).status, "sold");
  // With telemetry, Deno parses the URL before it calls the handler.
  const port = Number(new URL(service.address).port);
  for (const host of ["[", "a b", "x/healthz?"]) {
    const answer = await sendRaw(port, "GET /healthz HTTP/1.1", host);
    assertStringIncludes(answer, "HTTP/1.1 400 ", host);
    assertStringIncludes(answer, '"code":"malformed_request"', host);
  }
  assertEquals(service.lines.filter((line) => line.includes("answer_failed")), []);
  // Gauges are not read once more when the process ends.
  await until(() => collector.valueOf("animal_store.head.position") === 8);
  assertEquals(collector.valueOf("animal_store.followers"), 1);
  leave.abort();
  await until(() => collector.valueOf("animal_store.followers") === 0);
  const bad = "Bearer pets_none";
  for (const authorization of ["", "", bad, bad, bad]) {
    const refused = fetch(`${service.address}/v1/pets`, { headers: { authorization } });
    assertEquals(await statusOf(refused), 401);
  }
  assertEquals(await service.stop(), 0);

  const names = collector.spans.map(({ name }) => name);
  assertIncludes(names, ["GET /v1/pets", "GET /v1/pets/{petId}", "POST /v1/pets"]);
  const [added] = collector.spans.filter(({ name }) => name === "POST /v1/pets");
  assert(added.attributes.some(({ key }) => key === "http.response.header.x-request-id"));
  // Deno ends the span of a stream with the head of the response, so that it is sent at once.
  assertEquals(names.filter((name) => name === "GET /v1/events").length, 1);

  const { valueOf } = collector;
  assertEquals(valueOf("animal_store.events.appended", { type: "PetCreated" }), 6);
  assertEquals(valueOf("animal_store.events.appended", { type: "PetUpdated" }), 1);
  assert(valueOf("db.client.operation.duration", { "db.operation.name": "commit" })! > 0);
  assertEquals(valueOf("animal_store.queue.length"), 0);
  assertEquals(valueOf("animal_store.credentials.refused", { reason: "missing" }), 2);
  assertEquals(valueOf("animal_store.credentials.refused", { reason: "invalid" }), 3);
  assert(collector.metrics.has("animal_store.event.age"));
  const severityOf = (line: string) => JSON.parse(line).level.toUpperCase();
  assertEquals(collector.logs, service.lines.map((line) => [severityOf(line), line]));
  const manual = await Deno.readTextFile(new URL("../../scripts/README.md", import.meta.url));
  const own = [...collector.metrics.keys()].filter((name) => name.startsWith("animal_store."));
  assertIncludes(manual.match(/(?<=^\| `)[\w.]+(?=`)/gm)!, own);

  assertStringIncludes(collector.text(), "db.collection.name");
  assert(!collector.text().includes(token), "the key is not in the telemetry");
  assert(!collector.text().includes("authorization"));
  assert(!service.lines.join("\n").includes(token), "the key is not on standard error");
});

test("A key in a path or a query is redacted in the telemetry and on standard error", async () => {
  await using collector = startCollector();
  await using store = await TempStore.make();
  const token = await store.issueKey();
  const secret = token.slice("pets_".length);
  const encoded = [...token].map((char) => `%${char.charCodeAt(0).toString(16)}`).join("");
  await using service = await ServiceProcess.start(store.kvPath, collector.env);
  const port = Number(new URL(service.address).port);
  for (const key of [token, `pets%5F${secret}`, `pets%255f${secret}`, encoded]) {
    const query = `limit=1&key=${key}&a=1`;
    for (const path of [`/v1/pets/${key}`, `/${key}/v1/pets`, `/v1/pets?${query}`]) {
      assert(await statusOf(service.send(path, token)) >= 400, path);
      // A proxy sends the absolute URL.
      await sendRaw(port, `GET http://localhost${path} HTTP/1.1`);
    }
  }
  // Deno's own metrics repeat this key, because it is the host or the method.
  const other = `pets_${"0".repeat(72)}`;
  await sendRaw(port, `GET http://${other}/v1/pets HTTP/1.1`);
  for (const path of ["/v1/pets", "/none"]) await sendRaw(port, `${other} ${path} HTTP/1.1`);
  assertEquals(await service.stop(), 0);

  const methods = collector.spans.flatMap(({ name, attributes }) => {
    const method = attributes.find(({ key }) => key === "http.request.method");
    return method === undefined ? [] : [`${name}, ${method.value.stringValue}`];
  });
  assert(methods.includes("HTTP /v1/pets, _OTHER") && methods.includes("HTTP, _OTHER"));
  assert(!JSON.stringify(collector.spans).includes(other), "no span has the other key");
  assert(!service.lines.join("\n").includes(other));

  const urls = collector.spans.flatMap(({ attributes }) =>
    attributes.filter(({ key }) => key.startsWith("url.")).map(({ value }) => value.stringValue)
  );
  const query = "limit=1&key=pets_…&a=1";
  const absolute = `${service.address}/v1/pets?${query}`;
  assertIncludes(urls, ["/v1/pets/pets_…", "/pets_…/v1/pets", query, absolute]);
  for (const sent of [collector.text(), service.lines.join("\n")]) {
    for (const form of [secret, encoded.slice(-3 * secret.length)]) {
      const at = sent.toLowerCase().indexOf(form.slice(0, 12));
      assertEquals(at, -1, sent.slice(at - 200, at + 50));
    }
  }
});

test("A restore with OTEL_DENO=true sends its progress, and an audit when it succeeded", async () => {
  await using collector = startCollector();
  await using store = await TempStore.make();
  const stdin = linesToBytes(sampleLog(1_200));
  const options = { kvPath: store.kvPath, stdin, env: collector.env };
  const { code, stderr } = await runTask(["restore", "-"], options);
  assertEquals(code, 0, stderr);
  const phase = { phase: "Restoring", unit: "events" };
  assert(collector.valueOf("animal_store.tool.progress", phase)! > 0);
  await runTask(["audit"], { kvPath: store.kvPath, env: collector.env });
  const ageSeconds = Date.now() / 1_000 - collector.valueOf("animal_store.audit.success.time")!;
  assertLess(Math.abs(ageSeconds), 3_600);
});

function assertIncludes(texts: string[], wanted: string[]): void {
  assertEquals(wanted.filter((text) => !texts.includes(text)), [], [...new Set(texts)].join("\n"));
}

async function statusOf(answering: Promise<Response>): Promise<number> {
  const { status, body } = await answering;
  await body?.cancel();
  return status;
}

/** Sends a request with that first line, and resolves to the response. */
async function sendRaw(port: number, line: string, host = "x"): Promise<string> {
  using connection = await connect(port);
  await connection.write(`${line}\r\nHost: ${host}\r\n\r\n`);
  await until(() => connection.received !== "");
  return connection.received;
}
