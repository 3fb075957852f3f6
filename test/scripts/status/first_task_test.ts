import { assertEquals } from "@std/assert";
import type { ConsumerReport } from "eventstore-less/tools";
import type { ServiceStatus } from "../../../scripts/status/describe_status.ts";
import { describeStatus } from "../../../scripts/status/describe_status.ts";
import { firstTask } from "../../../scripts/status/first_task.ts";
import type { ApiKey } from "../../../src/keys/api_key.ts";
import { callCommandsBy } from "../../../src/runtime/words.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW = Date.parse("2026-11-20T12:00:00.000Z");

const KEY: ApiKey = {
  id: "01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  label: "the shop's website",
  tokenHash: "",
  position: 1,
  issuedAt: NOW,
};

const WELL: ServiceStatus = {
  version: "7.0.0",
  store: "/srv/pets.sqlite3",
  kind: "file",
  servers: 1,
  bytes: 7_040_000,
  position: 1_040,
  newestEventAt: ago(HOUR_MS),
  summary: { pets: 1_015 },
  liveKeys: [KEY],
  audit: { endedAt: ago(9 * HOUR_MS), position: 990, sound: true },
  backup: {
    endedAt: ago(HOUR_MS),
    position: 1_038,
    file: "/mnt/backup/log.jsonl",
    lacks: 2,
    lacksSince: ago(HOUR_MS),
  },
};

function ago(ms: number): string {
  return new Date(NOW - ms).toISOString();
}

const CONSUMER: ConsumerReport = {
  name: "webhooks/01KA",
  position: 1_040,
  lag: 0,
  hasHolder: true,
  isStopped: false,
};

function failingSince(ms: number) {
  const since = ago(ms);
  return { since, attempts: 7, reason: "It answered 500", lastAt: since, pauseMs: 60_000 };
}

/** Each case is more urgent than those before it. */
const CASES: [name: string, change: Partial<ServiceStatus>, task: string][] = [
  [
    "a consumer that fails for a day",
    { consumers: [{ ...CONSUMER, failing: failingSince(DAY_MS + 1) }] },
    "Consumer webhooks/01KA has failed for a day: It answered 500; see pets webhooks list",
  ],
  [
    "a key that expires within 30 days",
    { liveKeys: [{ ...KEY, expiresAt: NOW + 30 * DAY_MS }] },
    "Key 01KA7Z9MZ4QH4C4P5R4Z2Y0V7B expires at 2026-12-20 12:00Z: pets keys rotate 01KA7Z9MZ4QH4C4P5R4Z2Y0V7B",
  ],
  [
    "an audit that is older than a day",
    { audit: { endedAt: ago(26 * HOUR_MS + 1), position: 40, sound: true } },
    "The last audit is older than a day: pets audit",
  ],
  ["no audit", { audit: undefined }, "No audit of this store is known: pets audit"],
  [
    "a consumer that is stopped",
    { consumers: [CONSUMER, { ...CONSUMER, isStopped: true }] },
    "Consumer webhooks/01KA is stopped, because it has no place in this log: pets webhooks --help",
  ],
  [
    "a backup that lacks events that are older than two hours",
    { backup: { ...WELL.backup!, lacksSince: ago(2 * HOUR_MS + 1) } },
    "The backup lacks events that are older than two hours: pets backup /mnt/backup/log.jsonl",
  ],
  [
    "no backup",
    { backup: undefined },
    "No backup of this store is known: pets backup EXPORT, on another disk",
  ],
  [
    "several servers without a standby",
    { kind: "postgres", servers: 2, standbyNames: "" },
    "Commits wait for no standby, so a fail-over may lose what was acknowledged: set synchronous_standby_names, or with Patroni synchronous_mode",
  ],
  [
    "no valid key",
    { liveKeys: [] },
    "No key is valid, so all requests get 401: pets keys issue --label TEXT",
  ],
  [
    "an audit that found a fault",
    { audit: { endedAt: ago(HOUR_MS), position: 40, sound: false } },
    "The last audit found a fault: run pets audit, and follow its advice",
  ],
  [
    "no events",
    { position: 0 },
    "The store has no events: correct KV_PATH or DATABASE_URL, or make a key: pets keys issue --label TEXT",
  ],
  [
    "a service that is not ready",
    { service: { address: "127.0.0.1:8000", fault: "is not ready: The disk is full" } },
    "The service at 127.0.0.1:8000 is not ready: The disk is full. Before anything else, follow the last lines of its log: journalctl --unit animal-store",
  ],
];

Deno.test("firstTask() names the most urgent task, and nothing if all is well", () => {
  callCommandsBy("pets");
  assertEquals(firstTask(WELL, NOW), undefined);
  let changed = WELL;
  for (const [name, change, task] of CASES) {
    assertEquals(firstTask({ ...WELL, ...change }, NOW), task, name);
    changed = { ...changed, ...change };
    assertEquals(firstTask(changed, NOW), task, `${name}, and all before`);
  }
});

Deno.test("firstTask() has nothing to do for a key that was rotated, or expires later", () => {
  const expiresAt = NOW + DAY_MS;
  const rotated = { ...KEY, expiresAt, revokedAt: NOW + HOUR_MS };
  const lasting = { ...KEY, expiresAt: NOW + 30 * DAY_MS + 1 };
  assertEquals(firstTask({ ...WELL, liveKeys: [rotated, lasting] }, NOW), undefined);
});

Deno.test("describeStatus() has one line for each fact", () => {
  const expiring = { ...KEY, expiresAt: NOW + DAY_MS };
  const shown = describeStatus(
    { ...WELL, commit: "1a2b3c4d", liveKeys: [KEY, expiring] },
    "Sleep",
    NOW,
  );
  assertEquals(
    shown,
    `\
Version      7.0.0 (1a2b3c4d)
Store        /srv/pets.sqlite3, 7.0 MB
Events       1,040, the newest at 2026-11-20 11:00:00Z
Pets         1,015
Last audit   2026-11-20 03:00:00Z, sound, up to position 990
Last backup  2026-11-20 11:00:00Z, up to position 1038, lacks 2 events of the last 60 minutes: /mnt/backup/log.jsonl
Keys         2 valid; 01KA7Z9MZ4QH4C4P5R4Z2Y0V7B (the shop's website) expires at 2026-11-21 12:00Z
Commits      on this disk alone
Do first     Sleep`,
  );
});

Deno.test("firstTask() has nothing to do for a consumer that fails for a moment or is behind", () => {
  const consumers = [{ ...CONSUMER, lag: 30, failing: failingSince(DAY_MS) }];
  assertEquals(firstTask({ ...WELL, consumers }, NOW), undefined);
});

Deno.test("describeStatus() shows how many consumers there are, their largest lag, and those that fail or are stopped", () => {
  const shownOf = (consumers: ConsumerReport[]) => {
    const shown = describeStatus({ ...WELL, consumers }, undefined, NOW);
    return /^Consumers([^]*)\nDo first/m.exec(shown)?.[1].replaceAll(/^ +/gm, "").split("\n");
  };
  assertEquals(shownOf([]), undefined);
  assertEquals(shownOf([CONSUMER]), ["1, none is behind"]);
  const failing = { ...CONSUMER, lag: 3, failing: failingSince(HOUR_MS) };
  const stopped = { ...CONSUMER, name: "mailer", isStopped: true };
  const fails = "webhooks/01KA has failed 7 times since 2026-11-20 11:00:00Z: It answered 500";
  assertEquals(shownOf([CONSUMER, failing, stopped]), [
    "3, at most 3 events behind",
    fails,
    "mailer is stopped",
  ]);
  assertEquals(shownOf(Array(7).fill(failing)), [
    "7, at most 3 events behind",
    ...Array(5).fill(fails),
    "and 2 more",
  ]);
});

Deno.test("describeStatus() says whether commits are replicated", () => {
  const commitsOf = (change: Partial<ServiceStatus>) => {
    const shown = describeStatus({ ...WELL, ...change }, undefined, NOW);
    return /^Commits +(.*)$/m.exec(shown)?.[1];
  };
  const onPostgres = (standbyNames: string) => commitsOf({ kind: "postgres", standbyNames });
  assertEquals(onPostgres("ANY 1 (b, c)"), "replicated: synchronous_standby_names = ANY 1 (b, c)");
  const alone = "on the disk of the primary alone: synchronous_standby_names is empty";
  assertEquals(onPostgres(""), alone);
  assertEquals(commitsOf({ kind: "kv_connect" }), "as the server keeps them");
});
