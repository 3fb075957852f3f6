/** Grafana itself is in no registry, so its dashboard is tested by its queries, and in test/proofs by its schema. */

import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import { freePort } from "../../support/free_port.ts";
import { testNeeding } from "../../support/test_needing.ts";
import { samplesOf } from "../../support/samples_of.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { TempStore } from "../../support/temp_store.ts";
import { expectDone, install } from "../../support/third_party_tools.ts";
import { until } from "../../support/until.ts";
import { WEBHOOK_KEY } from "../../support/webhook_key.ts";
import { makeDashboard } from "./make_dashboard.ts";

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

/** The queries of each panel, from the command of the manual. */
async function queriesOfPanels(): Promise<string[][]> {
  const { panels } = JSON.parse(await makeDashboard());
  return panels.map(({ targets }: { targets: { expr: string }[] }) =>
    targets.map(({ expr }) => expr)
  );
}

const PROMTOOL = await install("promtool", () => expectDone("promtool", ["--version"]));

/** The metrics of a real service after a request of each kind, with a key that expires. */
async function scrape(): Promise<Map<string, number>> {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  const expiresAt = Date.now() + 86_400_000;
  await temp.use((service) => issueApiKey(service, { label: "a day", expiresAt }));
  const port = freePort();
  await using service = await ServiceProcess.start(temp.kvPath, {
    METRICS_PORT: `${port}`,
    WEBHOOK_KEY,
  });
  await service.add({ name: "Rex", categoryId: 1 }, token);
  await (await service.send("/v1/pets", token)).body?.cancel();
  // Nothing is called, because no event follows.
  const headers = { "content-type": "application/json" };
  const webhook = { method: "POST", headers, body: '{"url":"https://shop.example/hooks"}' };
  await (await service.send("/v1/webhooks", token, webhook)).body?.cancel();
  let text = "";
  // The first delay of a timer comes after 0.1 s.
  await until(async () => {
    text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    return text.includes("event_loop_delay_seconds_bucket") && text.includes("consumer_position{");
  });
  return samplesOf(text);
}

testNeeding(PROMTOOL)("each query of the dashboard has data of a real service", async () => {
  const samples = await scrape();
  const input_series = [...samples].map(([series, value]) => {
    return { series, values: `${value}+1x10` };
  });
  for (const series of METRICS_OF_OTHERS) input_series.push({ series, values: "1x10" });
  const queries = (await queriesOfPanels()).flat();
  const promql_expr_test = queries.map((expression) => {
    const expr = expression.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*");
    return { expr: `absent(${expr})`, eval_time: "10m", exp_samples: [] };
  });
  const tests = [{ interval: "1m", input_series, promql_expr_test }];
  await using temp = await TempStore.make();
  await Deno.writeTextFile(`${temp.folder}/test.json`, JSON.stringify({ tests }));
  await expectDone("promtool", ["test", "rules", `${temp.folder}/test.json`]);
});
