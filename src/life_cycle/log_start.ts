import { ForeignStoreError } from "../log/head.ts";
import { stateOf } from "../log/api_keys.ts";
import { listApiKeys } from "../projections/api_key_reader.ts";
import { reasonOf } from "../runtime/logger.ts";
import { sleep } from "../runtime/runtime.ts";
import type { Service } from "../service.ts";
import { serviceErrorCode } from "../service_error.ts";
import { StoreDamagedError } from "../store/store_errors.ts";
import { type StoreLocation, storeName } from "../store/store_location.ts";
import { VERSION } from "../settings/version.ts";

export interface StartReportOptions {
  address: Deno.NetAddr;
  location: StoreLocation;
  /** Whether the service has created the file or the tables of the store. */
  isNew: () => boolean;
}

/** The contents of the store, as the log of the service shows them. */
interface Contents {
  format: number;
  events: number;
  pets: number;
  liveKeys: number;
}

/** Time after which a store that is away is read again, in milliseconds. */
const READ_AGAIN_MS = 1_000;

/**
 * Logs `listening`, with the address, the version and what the service serves, and warns if that may be a mistake.
 * If the store is away, `store_opened` follows when it is back. Nothing is logged for the store of another
 * program.
 */
export async function logStart(
  service: Service,
  { address: { hostname, port }, location, isNew }: StartReportOptions,
): Promise<void> {
  const { report, runtime } = service;
  const storeOf = () => ({
    store: storeName(location),
    state: location.kind === "memory" ? "in memory" : isNew() ? "made" : "opened",
  });
  let event = "listening";
  let start: Record<string, unknown> = { hostname, port, version: VERSION };
  for (;;) {
    try {
      const contents = await readContents(service);
      report("info", event, { ...start, ...storeOf(), ...contents });
      return warn(service, storeOf(), contents);
    } catch (error) {
      if (error instanceof ForeignStoreError) return;
      if (event === "listening") {
        const reason = reasonOf(error);
        report("warn", event, { ...start, ...storeOf(), state: "unknown", reason });
      }
      if (!isAway(error)) return;
    }
    [event, start] = ["store_opened", {}];
    await sleep(runtime, READ_AGAIN_MS);
  }
}

function isAway(error: unknown): boolean {
  return serviceErrorCode(error) === "store_unavailable" && !(error instanceof StoreDamagedError);
}

function readContents({ heads, store, runtime }: Service): Promise<Contents> {
  return heads.use(async (head) => {
    const keys = await listApiKeys(store, head);
    const liveKeys = keys.filter((key) => stateOf(key, runtime.now()) === "live").length;
    return { format: head.format, events: head.position, pets: head.lastPetId, liveKeys };
  });
}

function warn(
  { report }: Service,
  { store, state }: { store: string; state: string },
  { events, liveKeys }: Contents,
): void {
  if (state === "in memory") {
    report("warn", "store_in_memory", {
      remedy: "All data is lost when the process ends; set KV_PATH to a file",
    });
  } else if (state === "made" || events === 0) {
    report("warn", state === "made" ? "store_made" : "store_empty", {
      store,
      remedy: "If the store should have data, stop the service and correct KV_PATH or DATABASE_URL",
    });
  }
  if (liveKeys > 0) return;
  const issue = "deno task keys issue --label TEXT prints a key";
  // A key for a store in memory would end with the command.
  const remedy = state === "in memory" ? `With KV_PATH set to a file, ${issue}` : issue;
  report("warn", "no_live_key", { remedy });
}
