/**
 * Tests of files of scripts/deploy with litestream and kubeconform from Go's proxy, and schemas from PyPI and npm.
 */

import { globSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { assertEquals, assertGreater, assertStringIncludes } from "@std/assert";
import type { Service } from "../../src/service.ts";
import { LoadClient } from "../support/load_client.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { readLogLines } from "../support/sound_log.ts";
import { TempStore } from "../support/temp_store.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectDone, install, installFromPyPI, run } from "../support/third_party_tools.ts";
import { ROOT } from "../support/with_project_copy.ts";
import { makeDashboard } from "../scripts/deploy/make_dashboard.ts";

const TOOLS = [
  "github.com/benbjohnson/litestream/cmd/litestream@v0.5.18",
  "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0",
];
const CACHE = `${ROOT}.cache/proofs`;

const TOOLS_OF_GO = await install("litestream and kubeconform", async () => {
  const env = { GOBIN: `${CACHE}/bin`, GOFLAGS: "-buildvcs=false" };
  for (const tool of TOOLS) await expectDone("go", ["install", tool], { env });
  await installFromPyPI(CACHE, `${ROOT}test/proofs/requirements.txt`);
});
const test = testNeeding(TOOLS_OF_GO);

test("litestream replicates under load, and restores a sound store after kill -9 of both", async () => {
  await using temp = await TempStore.make();
  await using replica = await TempStore.make();
  const env = { KV_PATH: temp.kvPath, REPLICA_URL: `file://${replica.folder}/replica` };
  const config = ["-config", `${ROOT}scripts/deploy/litestream.yml`];
  const token = await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath);
  const own = { services: () => [service], token, connections: 16 };
  const load = new LoadClient({ ...own, faults: "process" });
  const args = ["replicate", ...config];
  const command = new Deno.Command(`${CACHE}/bin/litestream`, { args, env, stdout: "null" });
  await using litestream = command.spawn();
  let isOver = false;
  const running = load.run(() => isOver);
  // Long enough for many checkpoints.
  await sleep(8_000);
  // No request was refused, and no connection lost.
  assertEquals(Object.keys(load.outcomes), ["created"]);
  litestream.kill("SIGKILL");
  await service.stop("SIGKILL");
  isOver = true;
  await running;
  assertEquals(load.violations, []);

  const restore = ["restore", ...config, "-o", replica.kvPath, temp.kvPath];
  await expectDone(`${CACHE}/bin/litestream`, restore, { env });
  const linesOfSound = async (service: Service) => {
    await load.expectChanges(service);
    return readLogLines(service.store);
  };
  const [lines, restored] = [await temp.use(linesOfSound), await replica.use(linesOfSound)];
  assertEquals(restored, lines.slice(0, restored.length));
  // It lacks a second or two, but the machine may be busy.
  assertGreater(restored.length, lines.length / 2);
});

test("kubeconform accepts kubernetes.yml, and refuses an unknown field", async () => {
  const [folder] = globSync("lib/*/*/kubernetes_validate/*/v1.37.0-local-strict", { cwd: CACHE });
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  await using server = Deno.serve(options, async ({ url }) => {
    const { origin, pathname } = new URL(url);
    const schema = await Deno.readTextFile(`${CACHE}/${folder}/${pathname}`);
    // The schemas name each other by addresses of this site.
    return new Response(schema.replaceAll(/"(https:\/\/kubernetes\.io)?\/api\//g, `"${origin}/`));
  });
  const schemas = `http://127.0.0.1:${server.addr.port}/{{.ResourceKind}}{{.KindSuffix}}.json`;
  await using temp = await TempStore.make();
  const check = async (text: string) => {
    await Deno.writeTextFile(`${temp.folder}/kubernetes.yml`, text);
    return run(`${CACHE}/bin/kubeconform`, ["-schema-location", schemas, "-summary", temp.folder]);
  };
  const text = await Deno.readTextFile(`${ROOT}scripts/deploy/kubernetes.yml`);
  assertStringIncludes((await check(text)).output, "Valid: 7, Invalid: 0, Errors: 0");
  const { output } = await check(text.replaceAll("readOnlyRootFilesystem", "readOnlyRoot"));
  assertStringIncludes(output, "Valid: 4, Invalid: 3, Errors: 0");
});

test("Grafana's schema accepts the dashboard, and refuses an unknown member", async () => {
  const text = await makeDashboard();
  await using temp = await TempStore.make();
  const check = async (json: string) => {
    const program = `import type { Dashboard } from "npm:@grafana/schema@13.2.3";
      export const dashboard: Dashboard = ${json};`;
    await Deno.writeTextFile(`${temp.folder}/dashboard.ts`, program);
    return run(Deno.execPath(), ["check", "--no-lock", `${temp.folder}/dashboard.ts`]);
  };
  const { code, output } = await check(text);
  assertEquals(code, 0, output);
  const refused = await check(text.replace('"refresh": "30s"', '"refreshed": "30s"'));
  assertStringIncludes(refused.output, "'\"refreshed\"' does not exist in type 'Dashboard'");
});
