import { serviceErrorCode } from "eventstore-less";
import {
  ForeignStoreError,
  readStoreFormat,
  secondsSinceEvent,
  sleep,
} from "eventstore-less/parts";
import { reasonOf, type StoreLocation, storeName } from "eventstore-less/startup";
import { StoreDamagedError } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import { petCount } from "../animals/pet_counts.ts";
import { stateOf } from "../keys/api_key.ts";
import { listApiKeys } from "../keys/api_key_reader.ts";
import { commandName, switchAdvice } from "../runtime/words.ts";
import type { Server } from "../server/server.ts";
import type { Service } from "../service.ts";
import { VERSION } from "../settings/version.ts";

/** Time after which a store that is away is read again, in milliseconds. */
const READ_AGAIN_MS = 1_000;

/**
 * Logs what the service serves, and warns if that may be a mistake. If the store is away, `store_opened` follows.
 * `isNew` returns whether the service has created the file or the tables of the store.
 */
export async function logStart(
  service: Service,
  { hostname, port, commit }: Server["addr"] & { commit?: string },
  location: StoreLocation,
  isNew: () => boolean,
): Promise<void> {
  const { report, runtime } = service;
  const store = storeName(location);
  for (let isFirst = true;; isFirst = false) {
    const event = isFirst ? "listening" : "store_opened";
    const start = isFirst ? { hostname, port, version: VERSION, commit, ...linkOf(location) } : {};
    try {
      const contents = await readContents(service);
      const state = storeStateOf(location, isNew());
      report("info", event, { ...start, store, state, ...contents });
      warn(service, store, state, contents);
      return await warnOfClock(service);
    } catch (error) {
      if (error instanceof ForeignStoreError) return;
      if (isFirst) {
        report("warn", event, { ...start, store, state: "unknown", reason: reasonOf(error) });
      }
      const isAway = serviceErrorCode(error) === "store_unavailable";
      if (!isAway || error instanceof StoreDamagedError) return;
    }
    await sleep(runtime, READ_AGAIN_MS);
  }
}

/** Says that the settings name the store by a symbolic link. */
function linkOf(location: StoreLocation): { link?: string } {
  return location.kind === "file" && location.link !== undefined ? { link: location.link } : {};
}

type StoreState = "in memory" | "made" | "opened";

function storeStateOf({ kind }: StoreLocation, isNew: boolean): StoreState {
  if (kind === "memory") return "in memory";
  return isNew ? "made" : "opened";
}

type Contents = Awaited<ReturnType<typeof readContents>>;

function readContents({ heads, store, runtime }: Service) {
  return heads.use(async ({ head }) => {
    const apiKeys = await listApiKeys(store, head);
    const liveKeys = apiKeys.filter((apiKey) => stateOf(apiKey, runtime.now()) === "live").length;
    const format = await readStoreFormat(store);
    return { format, events: head.position, pets: petCount(head), liveKeys };
  });
}

/** How far the clock may be behind the newest event, in seconds: the clocks of several machines differ. */
const CLOCK_TOLERANCE_S = 60;

/** Warns if the clock was set back while no service ran, because keys that have ended are then valid again. */
async function warnOfClock({ heads, store, report, runtime }: Service): Promise<void> {
  await heads.use(async ({ head }) => {
    const seconds = await secondsSinceEvent(APPLICATION, store, runtime, head.position);
    if (seconds === undefined || seconds >= -CLOCK_TOLERANCE_S) return;
    const now = runtime.now();
    const newestEventAt = now - seconds * 1_000;
    const validAgain = (await listApiKeys(store, head)).filter((apiKey) =>
      stateOf(apiKey, newestEventAt) !== "live" && stateOf(apiKey, now) === "live"
    );
    report("warn", "clock_behind", {
      seconds: Math.round(-seconds),
      newestEvent: new Date(newestEventAt).toISOString(),
      keysValidAgain: validAgain.map(({ id }) => id),
      remedy: "Stop the service, set the clock of this machine, and start the service again",
    });
  });
}

function warn({ report }: Service, store: string, state: StoreState, contents: Contents): void {
  if (state === "in memory") {
    const remedy = "All data is lost when the process ends; set KV_PATH to a file";
    report("warn", "store_in_memory", { remedy });
  } else if (state === "made" || contents.events === 0) {
    const remedy = `If it should have data, find the right store, and ${
      switchAdvice("KV_PATH=… or DATABASE_URL=…")
    }`;
    report("warn", state === "made" ? "store_made" : "store_empty", { store, remedy });
  }
  if (contents.liveKeys > 0) return;
  const issue = `${commandName("keys issue --label TEXT")} prints a key`;
  // A key for a store in memory would end with the command.
  const remedy = state === "in memory" ? `With KV_PATH set to a file, ${issue}` : issue;
  report("warn", "no_live_key", { remedy });
}
