import { fetchFrom } from "../support/fetch_from.ts";
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { buildCommit } from "this-runtime/build_commit.ts";
import { VERSION } from "../../src/settings/version.ts";
import { prometheus } from "../../src/telemetry/prometheus.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { freePort } from "../support/free_port.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { expectDone, install } from "../support/third_party_tools.ts";

import { ROOT } from "../support/with_project_copy.ts";

const test = testNeeding(PROCESSES);

const PROMTOOL = await install("promtool", () => expectDone("promtool", ["--version"]));

test("METRICS_PORT serves the metrics that the manuals name, each with its meaning, and promtool is content with them", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  const port = freePort();
  await using service = await ServiceProcess.start(temp.kvPath, { METRICS_PORT: `${port}` });
  const get = async (path: string, method = "GET"): Promise<[number, string]> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return [response.status, await response.text()];
  };
  for (const [pet, key] of [[{ name: "Rex", categoryId: 1 }, token], [{}, token], [{}, "x"]]) {
    await service.add(pet, key as string);
  }
  const expiresAt = Date.now() + 3_600_000;
  const { id } = await temp.use((tool) => issueApiKey(tool, { label: "for an hour", expiresAt }));
  for (const [path, method] of [["/"], ["/metrics/"], ["/metrics", "POST"]]) {
    assertEquals((await get(path, method))[0], 404, `${method} ${path}`);
  }
  const [, text] = await get("/metrics");
  for (const status of [201, 400, 401]) {
    const count = `_count{operation="createPet",status="${status}",} 1\n`;
    assertStringIncludes(text, `animal_store_request_duration_seconds${count}`);
  }
  assertStringIncludes(text, '\nanimal_store_credentials_refused_total{reason="invalid",} 1\n');
  assertStringIncludes(text, "\nanimal_store_ready 1\n");
  const [, version, commit] = /^animal_store_info{version="(.*)",commit="(.*)"} 1$/m.exec(text)!;
  assertEquals(version, VERSION);
  if (buildCommit() !== undefined) assertMatch(commit, /^[0-9a-f]{12}(?:-changed)?$/);
  for (const code of ["invalid_body", "invalid_credentials"]) {
    assertStringIncludes(text, `\nanimal_store_errors_total{code="${code}",} 1\n`);
  }
  const valueOf = (name: string) => Number(RegExp(`^${name} (\\S+)$`, "m").exec(text)![1]);
  const { size } = await Deno.stat(`${temp.kvPath}-wal`);
  assertEquals(valueOf("animal_store_wal_bytes"), size);
  assertLess(valueOf("animal_store_disk_free_bytes"), valueOf("animal_store_disk_bytes"));
  assertLess(Math.abs(valueOf("process_start_time_seconds") - Date.now() / 1_000), 60);
  const cpuSeconds = valueOf("process_cpu_seconds_total");
  assert(cpuSeconds > 0.05 && cpuSeconds < 60, `${cpuSeconds}`);
  assertEquals(valueOf(`animal_store_key_expiry_time_seconds\\{key="${id}"\\}`), expiresAt / 1_000);
  assert(!text.includes(token));
  for (const [, name] of text.matchAll(/^# TYPE (\S+) /gm)) {
    assertMatch(text, RegExp(`^# HELP ${name} [A-Z]\\w+ `, "m"));
  }
  for (const manual of ["scripts/README.md", "scripts/runbook.md"]) {
    const named = (await Deno.readTextFile(ROOT + manual)).match(/\banimal_store_\w+/g)!;
    // The commands of the manual leave the results of audits and backups to node_exporter.
    const own = named.filter((name) => !/_(audit|backup)_/.test(name));
    assert(own.length > 0, manual);
    for (const name of own) assertStringIncludes(text, `# TYPE ${name} `);
  }
  if (!PROMTOOL.isMet) return;
  await Deno.writeTextFile(`${temp.folder}/metrics`, text);
  await expectDone("sh", ["-c", `promtool check metrics < ${temp.folder}/metrics 2>&1`]);
});

Deno.test("prometheus() counts durations in buckets, and leaves out what it cannot read", async () => {
  const runtime = new FakeRuntime();
  const options = {
    runtime,
    storeFile: "/none/pets",
    version: "6.1.2",
    commit: "",
    errorCodes: ["a"],
  };
  const { instrumentation, handler } = prometheus(options);
  instrumentation.count("commit.unclear");
  for (const seconds of [0.002, 0.0021, 60]) instrumentation.onResponse!(undefined, 404, seconds);
  const text = await (await fetchFrom(handler)(new Request("http://localhost/metrics"))).text();
  const buckets = text.matchAll(/operation="unknown",status="404",le="(.+?)"} (\d)/g);
  const counts = Object.fromEntries([...buckets].map(([, bound, count]) => [bound, Number(count)]));
  const shown = ["0.001", "0.002", "0.005", "10", "+Inf"].map((bound) => counts[bound]);
  assertEquals(shown, [0, 1, 2, 2, 3]);
  assertStringIncludes(text, "\nanimal_store_commit_unclear_total{} 1\n");
  assertStringIncludes(text, '\nanimal_store_errors_total{code="a",} 0\n');
  assert(!/^animal_store_(file|wal|disk)\w*_bytes/m.test(text));
});

testNeeding(PROMTOOL)("promtool accepts the configurations of the manuals", async () => {
  await using temp = await TempStore.make();
  await Deno.copyFile(`${ROOT}scripts/deploy/alerts.yml`, `${temp.folder}/alerts.yml`);
  const file = `${temp.folder}/prometheus.yml`;
  for (const manual of ["scripts/README.md", "scripts/deploy/README.md"]) {
    const text = await Deno.readTextFile(ROOT + manual);
    const [, config] = /```yaml\n(rule_files[^`]+)```/.exec(text)!;
    // Debian's promtool does not know the discovery in Kubernetes.
    const known = config.replace("kubernetes_sd_configs: [{ role: pod }]", "static_configs: []");
    await Deno.writeTextFile(file, known.replace(/\/opt\S+(?=alerts)/, ""));
    const output = await expectDone("promtool", ["check", "config", file]);
    assertStringIncludes(output, "rules found");
  }
});
