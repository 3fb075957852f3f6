/** Each alert fires and resolves on scrapes of a real service in the emergency that it is for. */

import { freePort } from "../../support/free_port.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { fillDisk, mountDisk } from "../../support/small_disk.ts";
import { TempStore } from "../../support/temp_store.ts";
import { testIf } from "../../support/test_if.ts";
import { expectDone, install } from "../../support/third_party_tools.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/with_project_copy.ts";

const RULES = `${ROOT}scripts/deploy/alerts.yml`;

const isPossible = await install("promtool, prlimit and a full disk", async () => {
  for (const tool of ["promtool", "prlimit"]) await expectDone(tool, ["--version"]);
  await using _ = await mountDisk();
});

class Site {
  readonly #port = String(freePort());
  service!: ServiceProcess;

  constructor(readonly temp: TempStore, readonly token: string) {}

  async start(): Promise<void> {
    this.service = await ServiceProcess.start(this.temp.kvPath, { METRICS_PORT: this.#port });
  }

  /** Runs the commands of the manual that audit and back up. */
  async operate(): Promise<void> {
    const manual = await Deno.readTextFile(`${ROOT}scripts/README.md`);
    const commands = /```sh\n([^`]+audit\.prom[^`]+)```/.exec(manual)![1]
      .replaceAll("deno task", `${Deno.execPath()} task --quiet`)
      .replaceAll(
        /\/mnt\/backup|\/var\/lib\S+(?=\/)|(?=checkpoint\.json)/g,
        `${this.temp.folder}/`,
      );
    await expectDone("bash", ["-euc", commands], { cwd: ROOT, env: { KV_PATH: this.temp.kvPath } });
  }

  /** The series of the service, and those that node_exporter would read. */
  async scrape(): Promise<Record<string, number>> {
    const response = await fetch(`http://127.0.0.1:${this.#port}/metrics`).catch(() => undefined);
    const texts = [`up{job="animal-store"} ${Number(response?.ok ?? 0)}`, await response?.text()];
    for (const name of ["audit", "backup"]) {
      texts.push(await Deno.readTextFile(`${this.temp.folder}/${name}.prom`));
    }
    const lines = texts.join("\n").matchAll(/^(\w+(?:\{.*\})?) (\S+)$/gm);
    return Object.fromEntries(Array.from(lines, ([, series, value]) => [series, Number(value)]));
  }

  add(token = this.token): Promise<number> {
    return this.service.add({ name: "Rex", categoryId: 1 }, token);
  }

  limitFiles(bytes: string): Promise<unknown> {
    return expectDone("prlimit", [`--pid=${this.service.pid}`, `--fsize=${bytes}:unlimited`]);
  }
}

type Step = (site: Site) => unknown;

/** Each lasts for a number of minutes. */
const EMERGENCIES: Record<string, [begin: Step, end: Step, alerts: string[], lasts?: number]> = {
  "the process is killed": [
    ({ service }) => service.stop("SIGKILL"),
    (site) => site.start(),
    ["NotReady"],
  ],
  "the disk is full": [
    async (site) => {
      await fillDisk(site.temp.folder);
      await until(async () => await site.add() === 503);
    },
    async (site) => {
      await Deno.remove(`${site.temp.folder}/filler`);
      await until(async () => await site.add() === 201);
    },
    ["NotReady", "StorageFull"],
  ],
  "commits fail for an unknown reason": [
    (site) => site.limitFiles("4096").then(() => site.add()),
    (site) => site.limitFiles("unlimited"),
    ["CommitsUnclear"],
  ],
  "no audit runs for a day": [() => {}, (site) => site.operate(), ["NotAudited"], 27 * 60],
  "no backup runs": [(site) => site.add(), (site) => site.operate(), ["BackupBehind"], 3 * 60],
  "a client tries keys": [
    async (site) => {
      for (let round = 0; round < 40; round++) await site.add(`pets_${round}`);
    },
    () => {},
    ["CredentialsRefused"],
    4,
  ],
};

for (const [title, [begin, end, alerts, lasts = 10]] of Object.entries(EMERGENCIES)) {
  testIf(isPossible)(
    `alerts.yml: ${title}, and only ${alerts} fires until it is over`,
    async () => {
      await using disk = await mountDisk();
      await using temp = await TempStore.make(disk.folder);
      const site = new Site(temp, await temp.issueKey());
      await site.start();
      try {
        await site.operate();
        const scrapes = [await site.scrape()];
        for (const step of [begin, end]) {
          await step(site);
          scrapes.push(await site.scrape());
        }
        const content = JSON.stringify(await testOf(scrapes, alerts, lasts));
        await Deno.writeTextFile(`${temp.folder}/test.json`, content);
        await expectDone("promtool", ["test", "rules", `${temp.folder}/test.json`]);
      } finally {
        await site.service.stop("SIGKILL");
      }
    },
  );
}

/** A test of promtool. Each scrape is repeated: for 30 minutes, as long as the emergency lasts, and for 30 minutes. */
async function testOf(scrapes: Record<string, number>[], alerts: string[], lasts: number) {
  const rules = await Deno.readTextFile(RULES);
  const now = Date.now() / 1_000;
  const starts = [0, 30, 30 + lasts, 60 + lasts];
  const input_series = Object.keys(Object.assign({}, ...scrapes))
    .filter((series) => rules.includes(series.replace(/\{.*/, "")))
    .map((series) => {
      const values = scrapes.map(({ [series]: value }, index) => {
        const count = starts[index + 1] - starts[index];
        // The clock of promtool begins at 0.
        const shift = series.includes("_time_") ? starts[index] * 60 - now : 0;
        return value === undefined ? `_x${count}` : `${value + shift}x${count - 1}`;
      });
      return { series, values: values.join(" ") };
    });
  const promql_expr_test = [[], alerts, []].map((alerts: string[], index) => ({
    eval_time: `${starts[index + 1] - 1}m`,
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    exp_samples: alerts.map((it) => ({ labels: `{alertname="AnimalStore${it}"}`, value: 1 })),
  }));
  const tests = [{ interval: "1m", input_series, promql_expr_test }];
  return { rule_files: [RULES], evaluation_interval: "1m", tests };
}
