import { type ConsumerReport, shellWord } from "eventstore-less/tools";
import { commandName } from "../../src/runtime/words.ts";
import { formatMinute } from "../cli/format.ts";
import { serviceTask } from "./ask_service.ts";
import { expiringKeys, type ServiceStatus } from "./describe_status.ts";

const HOUR_MS = 60 * 60 * 1_000;

/** As in `deploy/alerts.yml`: a daily audit has two hours more, because its time varies. */
const AUDIT_AGE_LIMIT_MS = 26 * HOUR_MS;

/** As in `deploy/alerts.yml`: how old an event may be that the backup lacks. */
const BACKUP_LAG_LIMIT_MS = 2 * HOUR_MS;

/** How long a consumer may fail at one event before it is a task. */
const FAILING_LIMIT_MS = 24 * HOUR_MS;

/** The first task of an operator, in one line; `undefined` if there is nothing to do. */
export function firstTask(status: ServiceStatus, now: number): string | undefined {
  const { audit, backup, consumers = [], liveKeys, position, servers, service, standbyNames } =
    status;
  const urgent = service === undefined ? undefined : serviceTask(service);
  if (urgent !== undefined) return urgent;
  const runAudit = commandName("audit");
  if (position === 0) {
    const make = commandName("keys issue --label TEXT");
    return `The store has no events: correct KV_PATH or DATABASE_URL, or make a key: ${make}`;
  }
  if (audit?.sound === false) {
    return `The last audit found a fault: run ${runAudit}, and follow its advice`;
  }
  if (liveKeys.length === 0) {
    return `No key is valid, so all requests get 401: ${commandName("keys issue --label TEXT")}`;
  }
  if (servers > 1 && standbyNames === "") {
    return "Commits wait for no standby, so a fail-over may lose what was acknowledged: " +
      "set synchronous_standby_names, or with Patroni synchronous_mode";
  }
  if (backup === undefined) {
    const make = commandName("backup EXPORT");
    return `No backup of this store is known: ${make}, on another disk`;
  }
  const { file, lacksSince } = backup;
  if (lacksSince !== undefined && now - Date.parse(lacksSince) > BACKUP_LAG_LIMIT_MS) {
    const bringUpToDate = commandName(`backup ${shellWord(file)}`);
    return `The backup lacks events that are older than two hours: ${bringUpToDate}`;
  }
  const stopped = consumers.find(({ isStopped }) => isStopped);
  if (stopped !== undefined) {
    const list = commandName("webhooks --help");
    return `Consumer ${stopped.name} is stopped, because it has no place in this log: ${list}`;
  }
  if (audit === undefined) return `No audit of this store is known: ${runAudit}`;
  if (now - Date.parse(audit.endedAt) > AUDIT_AGE_LIMIT_MS) {
    return `The last audit is older than a day: ${runAudit}`;
  }
  const [key] = expiringKeys(liveKeys, now);
  if (key !== undefined) {
    const end = formatMinute(key.expiresAt);
    return `Key ${key.id} expires at ${end}: ${commandName(`keys rotate ${key.id}`)}`;
  }
  const failing = consumers.find((it) => isFailingLong(it, now));
  if (failing === undefined) return undefined;
  const list = commandName("webhooks list");
  return `Consumer ${failing.name} has failed for a day: ${failing.failing!.reason}; see ${list}`;
}

function isFailingLong({ failing }: ConsumerReport, now: number): boolean {
  return failing !== undefined && now - Date.parse(failing.since) > FAILING_LIMIT_MS;
}
