/** Each alert fires and resolves on scrapes of a real service in the emergency that it is for. */

import { sha256Hex } from "eventstore-less/parts";
import { stateRecordKey } from "../../../src/keys/record_keys.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals } from "@std/assert";
import { ERRORS } from "../../../src/api/errors.ts";
import { listApiKeys } from "../../../src/keys/api_key_reader.ts";
import { issueApiKey, revokeApiKey } from "../../../src/keys/write_api_key.ts";
import { encodeConsumerRecord } from "../../../src/eventstore_less/consumers/consumer_record.ts";
import { consumersKey, projectionKey } from "../../../src/eventstore_less/keyspace.ts";
import { METRICS } from "../../../src/telemetry/metrics.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { commit } from "../../support/store_contract.ts";
import { freePort } from "../../support/free_port.ts";
import { samplesOf } from "../../support/samples_of.ts";
import { ServiceProcess } from "../../support/service_process.ts";
import { fillDisk, mountDisk } from "../../support/small_disk.ts";
import { TempStore } from "../../support/temp_store.ts";
import { expectDone, install } from "../../support/third_party_tools.ts";
import { until } from "../../support/until.ts";
import { ROOT } from "../../support/with_project_copy.ts";

const RULES = `${ROOT}scripts/deploy/alerts.yml`;

const MONITORING = await install("promtool and a full disk", async () => {
  await expectDone("promtool", ["--version"]);
  await using _ = await mountDisk();
});

class Site {
  readonly #port = String(freePort());
  service!: ServiceProcess;
  /** Values that replace those of the service in the next scrapes. */
  readonly replaced = new Map<string, number>();

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
    const values = samplesOf(texts.join("\n"));
    for (const [series, value] of this.replaced) {
      assert(values.has(series), series);
      values.set(series, value);
    }
    return Object.fromEntries(values);
  }

  add(token = this.token): Promise<number> {
    return this.service.add({ name: "Rex", categoryId: 1 }, token);
  }

  async expectReadiness(status: number): Promise<void> {
    await until(async () => (await this.service.send("/readyz", "")).status === status);
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
  "the disk is nearly full": [
    ({ temp }) => expectDone("fallocate", ["-l", "11MiB", `${temp.folder}/filler`]),
    ({ temp }) => Deno.remove(`${temp.folder}/filler`),
    ["DiskNearlyFull"],
    30,
  ],
  // Only a store at an address can leave a commit unclear, so the test sets the count.
  "the store does not confirm commits": [
    ({ replaced }) => replaced.set("animal_store_commit_unclear_total{}", 6),
    () => {},
    ["CommitsUnclear"],
  ],
  "a record of a key is damaged": [
    async (site) => {
      // After an event of a key, the service reads each key again.
      await site.temp.use((service) => issueApiKey(service, { label: "another" }));
      await flipBit(site);
      await until(async () => await site.add() === 500);
      for (let round = 0; round < 10; round++) assertEquals(await site.add(), 500);
      await site.expectReadiness(200);
    },
    async (site) => {
      await flipBit(site);
      assertEquals(await site.add(), 201);
    },
    ["RequestsFail"],
    4,
  ],
  "another program locks the store for a moment": [
    async (site) => {
      using database = new DatabaseSync(site.temp.kvPath);
      database.exec("BEGIN IMMEDIATE");
      const adding = Array.from({ length: 10 }, () => site.add());
      await sleep(1_500);
      database.exec("ROLLBACK");
      assertEquals(await Promise.all(adding), Array(10).fill(201));
    },
    () => {},
    ["Slow"],
    9,
  ],
  "a key expires within a week": [
    ({ temp }) =>
      temp.use((service) => {
        return issueApiKey(service, { label: "short", expiresAt: Date.now() + 6 * 86_400_000 });
      }),
    ({ temp }) =>
      temp.use(async (service) => {
        const { head } = await service.heads.fresh();
        const keys = await listApiKeys(service.store, head);
        await revokeApiKey(service, keys.find(({ label }) => label === "short")!.id);
      }),
    ["KeyExpires"],
  ],
  "no audit runs for a day": [
    // The backup has all events until then.
    (site) => site.operate(),
    (site) => site.operate(),
    ["NotAudited"],
    27 * 60,
  ],
  "no backup runs": [(site) => site.add(), (site) => site.operate(), ["BackupBehind"], 3 * 60],
  "a consumer has no place, as after a restore": [
    ({ temp }) =>
      temp.use(({ store }) => {
        const record = { write: 0, since: 1, places: {}, stopped: ["mailer"] };
        const value = encodeConsumerRecord("mailer", record);
        return commit(store, [{ type: "set", key: consumersKey("mailer"), value }]);
      }),
    ({ temp }) =>
      temp.use(({ store }) => commit(store, [{ type: "delete", key: consumersKey("mailer") }])),
    ["ConsumerStopped"],
  ],
  "a webhook is disabled": [
    ({ replaced }) => replaced.set("animal_store_webhooks_disabled", 1),
    ({ replaced }) => replaced.clear(),
    ["WebhookDisabled"],
  ],
  "a client tries keys": [
    async (site) => {
      for (let round = 0; round < 40; round++) await site.add(`pets_${round}`);
    },
    () => {},
    ["CredentialsRefused"],
    4,
  ],
};

/** Flips a bit in the record of the last event of a key. A second time repairs it. */
async function flipBit({ temp, token }: Site): Promise<void> {
  await temp.use(async ({ heads, store }) => {
    const { head } = await heads.fresh();
    const key = projectionKey(head.generation, stateRecordKey(sha256Hex(token)));
    const value = (await store.get(key))!.value as Uint8Array;
    value[value.length - 1] ^= 1;
    await commit(store, [{ type: "set", key, value }]);
  });
}

testNeeding(MONITORING)(
  "alerts.yml: in each emergency, only its alerts fire until it is over",
  async (context) => {
    await using disk = await mountDisk();
    await using temp = await TempStore.make(disk.folder);
    const site = new Site(temp, await temp.issueApiKey());
    await site.start();
    try {
      // A rate needs series that exist before.
      assertEquals(await site.add(), 201);
      await site.operate();
      for (const [title, [begin, end, alerts, lasts = 10]] of Object.entries(EMERGENCIES)) {
        await context.step(title, async () => {
          site.replaced.clear();
          const scrapes = [await site.scrape()];
          for (const step of [begin, end]) {
            await step(site);
            scrapes.push(await site.scrape());
          }
          const content = JSON.stringify(await testOf(scrapes, alerts, lasts));
          await Deno.writeTextFile(`${temp.folder}/test.json`, content);
          await expectDone("promtool", ["test", "rules", `${temp.folder}/test.json`]);
        });
      }
    } finally {
      await site.service.stop("SIGKILL");
    }
  },
);

/** The commands of the manual leave these to node_exporter. */
const OF_COMMANDS = ["animal_store_audit_success_time_seconds", "animal_store_backup_position"];

testNeeding(permissions("read"))(
  "alerts.yml: each metric that it names is one of the service, because another one would never fire",
  async () => {
    const rules = (await Deno.readTextFile(RULES)).replaceAll(/^ *#.*$/gm, "");
    const known = METRICS.flatMap(({ name }) => [name, `${name}_bucket`, `${name}_count`])
      .concat(OF_COMMANDS);
    const named = rules.match(/\banimal_store_\w+/g)!;
    assertEquals(named.filter((name) => !known.includes(name)), []);
  },
);

testNeeding(permissions("read"))(
  "alerts.yml: RequestsFail counts each code of a failed request that no other alert has",
  async () => {
    const rules = await Deno.readTextFile(RULES);
    const [, codes] = /errors_total\{code=~"(.+?)"/.exec(rules)!;
    const own = ["not_ready", "storage_full"];
    const ofServer = Object.entries(ERRORS).filter(([, { status }]) => status >= 500);
    const expected = ofServer.map(([code]) => code).filter((code) => !own.includes(code));
    assertEquals(codes.split("|").sort(), expected.sort());
  },
);

testNeeding(MONITORING)(
  "alerts.yml: with the CronJobs of Kubernetes, an alert fires if none succeeds for a time",
  async () => {
    await using temp = await TempStore.make();
    const successOf = (job: string, hours: number) => ({
      series: `kube_cronjob_status_last_successful_time{cronjob="animal-store-${job}"}`,
      values: `${hours * 3_600}x3000`,
    });
    const firing = 'count by (alertname) (ALERTS{alertstate="firing"})';
    const expectAt = (hours: number, alerts: string[]) => ({
      eval_time: `${hours}h`,
      expr: firing,
      exp_samples: alerts.map((it) => ({ labels: `{alertname="AnimalStore${it}"}`, value: 1 })),
    });
    const tests = [{
      interval: "1m",
      input_series: [
        { series: "animal_store_head_position", values: "7x3000" },
        successOf("audit", 2),
        successOf("backup-postgresql", 4),
      ],
      promql_expr_test: [
        expectAt(5, []),
        expectAt(7, ["BackupBehind"]),
        expectAt(29, ["BackupBehind", "NotAudited"]),
      ],
    }];
    const content = { rule_files: [RULES], evaluation_interval: "1m", tests };
    await Deno.writeTextFile(`${temp.folder}/test.json`, JSON.stringify(content));
    await expectDone("promtool", ["test", "rules", `${temp.folder}/test.json`]);
  },
);

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
