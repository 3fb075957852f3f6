/** Grafana itself is in no registry, so its dashboard is tested by its queries, and in test/proofs by its schema. */

import { assert, assertEquals } from "@std/assert";
import dashboard from "../../../scripts/deploy/grafana_dashboard.json" with { type: "json" };
import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import { freePort } from "../../support/free_port.ts";
import { PROCESSES, testNeeding } from "../../support/test_needing.ts";
import { samplesOf } from "../../support/samples_of.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { expectDone, install } from "../../support/third_party_tools.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/with_project_copy.ts";

/**
 * The metrics that a service on a file does not export: those that the commands of the manual leave to node_exporter,
 * that kube-state-metrics has of CronJobs, and that a service with several PostgreSQL servers has.
 */
const METRICS_OF_OTHERS = [
  "animal_store_audit_success_time_seconds",
  "animal_store_backup_position",
  "animal_store_commits_replicated",
  "kube_cronjob_status_last_successful_time",
  "up",
];

/** Width of the grid of a dashboard. */
const COLUMNS = 24;

const { panels } = dashboard;
const expressions = panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

const PROMTOOL = await install("promtool", () => expectDone("promtool", ["--version"]));

/** The metrics of a real service after a request of each kind, with a key that expires. */
async function scrape(): Promise<Map<string, number>> {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  const expiresAt = Date.now() + 86_400_000;
  await temp.use((service) => issueApiKey(service, { label: "a day", expiresAt }));
  const port = freePort();
  await using service = await ServiceProcess.start(temp.kvPath, { METRICS_PORT: `${port}` });
  await service.add({ name: "Rex", categoryId: 1 }, token);
  await (await service.send("/v1/pets", token)).body?.cancel();
  let text = "";
  // The first delay of a timer comes after 0.1 s.
  await until(async () => {
    text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return text.includes("event_loop_delay_seconds_bucket");
  });
  return samplesOf(text);
}

testNeeding(PROMTOOL)("each query of the dashboard has data of a real service", async () => {
  const samples = await scrape();
  const input_series = [...samples].map(([series, value]) => {
    return { series, values: `${value}+1x10` };
  });
  for (const series of METRICS_OF_OTHERS) input_series.push({ series, values: "1x10" });
  const promql_expr_test = expressions.map((expression) => {
    const expr = expression.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*");
    return { expr: `absent(${expr})`, eval_time: "10m", exp_samples: [] };
  });
  const tests = [{ interval: "1m", input_series, promql_expr_test }];
  await using temp = await TempStore.make();
  const check = async (tests: unknown) => {
    await Deno.writeTextFile(`${temp.folder}/test.json`, JSON.stringify({ tests }));
    return await expectDone("promtool", ["test", "rules", `${temp.folder}/test.json`]);
  };
  await check(tests);
});

testNeeding(PROCESSES)(
  "each metric that alerts and dashboard name is one of a real service, or of the other sources",
  async () => {
    const exported = [...(await scrape()).keys()].map((series) => series.replace(/\{.*/, ""));
    const known = new Set([...exported, ...METRICS_OF_OTHERS]);
    const rules = await Deno.readTextFile(`${ROOT}scripts/deploy/alerts.yml`);
    // Names of recorded alerts, labels and functions have other forms.
    const ofRules = rules.replaceAll(/^ *#.*$/gm, "");
    const named = [ofRules, ...expressions].join("\n").match(
      /\b(?:animal_store|process|kube)_\w+|\bup\b/g,
    )!;
    assert(new Set(named).size > 25);
    assertEquals(named.filter((name) => !known.has(name)), []);
  },
);

Deno.test("the panels of the dashboard have their own ids and places", () => {
  assertEquals(new Set(panels.map(({ id }) => id)).size, panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos: { x, y, w, h } } of panels) {
    assert(x + w <= COLUMNS, title);
    for (let column = x; column < x + w; column++) {
      for (let row = y; row < y + h; row++) {
        const cell = `${column} ${row}`;
        assert(!taken.has(cell), `${title} covers another panel`);
        taken.add(cell);
      }
    }
  }
});
