import type { StoreLocation } from "eventstore-less/startup";
import type { ConsumerReport, StoreStatus } from "eventstore-less/tools";
import type { ApiKey } from "../../src/keys/api_key.ts";
import type { ServiceState } from "./ask_service.ts";
import { formatCount, formatCounted, formatMinute, formatSecond } from "../cli/format.ts";

/** How long before its end a key is shown, in milliseconds. */
const EXPIRES_SOON_MS = 30 * 24 * 60 * 60 * 1_000;

/** Maximum number of consumers that are shown because they fail or are stopped. */
const SHOWN_CONSUMERS = 5;

/** How a store is, with what the service keeps in it. */
export interface ServiceStatus extends StoreStatus {
  version: string;
  commit?: string;
  /** The name of the store. */
  store: string;
  kind: StoreLocation["kind"];
  /** Number of servers that the settings name. */
  servers: number;
  liveKeys: ApiKey[];
  /** The service, if the settings name its port. */
  service?: ServiceState;
}

/** A key with an end. */
type ExpiringKey = ApiKey & { expiresAt: number };

/** The keys that expire soon, the first one first. One that was rotated has a successor, so it does not count. */
export function expiringKeys(liveKeys: readonly ApiKey[], now: number): ExpiringKey[] {
  const isExpiring = (key: ApiKey): key is ExpiringKey =>
    key.revokedAt === undefined && key.expiresAt !== undefined &&
    key.expiresAt <= now + EXPIRES_SOON_MS;
  return liveKeys.filter(isExpiring).sort((one, other) => one.expiresAt - other.expiresAt);
}

/** The status in words, one fact a line. */
export function describeStatus(
  status: ServiceStatus,
  task: string | undefined,
  now: number,
): string {
  const { version, commit, store, bytes, position, newestEventAt, summary, liveKeys } = status;
  const newest = newestEventAt === undefined ? "" : `, the newest at ${shownTime(newestEventAt)}`;
  const rows = [
    ["Version", commit === undefined ? version : `${version} (${commit})`],
    ["Store", bytes === undefined ? store : `${store}, ${(bytes / 1e6).toFixed(1)} MB`],
    ["Events", formatCount(position) + newest],
    ...Object.entries(summary).map(([name, count]) => [titleCase(name), formatCount(count)]),
    ["Last audit", describeAudit(status)],
    ["Last backup", describeBackup(status, now)],
    [
      "Keys",
      [`${formatCount(liveKeys.length)} valid`, ...describeExpiring(liveKeys, now)].join("; "),
    ],
    ["Commits", describeReplication(status)],
    ...describeConsumers(status),
    ...describeService(status),
    ["Do first", task ?? "nothing"],
  ];
  return rows.map(([name, text]) => `${name.padEnd(13)}${text}`).join("\n");
}

/** The status as one JSON object. */
export function statusInJson(
  status: ServiceStatus,
  task: string | undefined,
  now: number,
): string {
  const { version, commit, store, bytes, position, newestEventAt, summary, audit, backup } = status;
  return JSON.stringify({
    version,
    commit,
    store,
    bytes,
    events: position,
    newestEventAt,
    ...summary,
    audit,
    backup,
    liveKeys: status.liveKeys.length,
    expiringKeys: expiringKeys(status.liveKeys, now).map(({ id, label, expiresAt }) => {
      return { id, label, expiresAt: new Date(expiresAt).toISOString() };
    }),
    replicated: isReplicated(status),
    standbyNames: status.standbyNames,
    consumers: status.consumers,
    service: status.service,
    doFirst: task,
  });
}

function describeService({ service }: ServiceStatus): [string, string][] {
  if (service === undefined) return [];
  const { address, fault = "is ready" } = service;
  return [["Service", `${address} ${fault}`]];
}

/** The number of consumers and their largest lag, then those that fail or are stopped. */
function describeConsumers({ consumers = [] }: ServiceStatus): [string, string][] {
  if (consumers.length === 0) return [];
  const lag = Math.max(...consumers.map(({ lag }) => lag));
  const behind = lag === 0 ? "none is behind" : `at most ${formatCounted(lag, "event")} behind`;
  const faulty = consumers.filter(({ failing, isStopped }) => isStopped || failing !== undefined);
  const shown = faulty.slice(0, SHOWN_CONSUMERS).map(describeFault);
  const omitted = faulty.length - shown.length;
  if (omitted > 0) shown.push(`and ${formatCount(omitted)} more`);
  const facts = [`${formatCount(consumers.length)}, ${behind}`, ...shown];
  return facts.map((fact, index) => [index === 0 ? "Consumers" : "", fact]);
}

function describeFault({ name, failing, isStopped }: ConsumerReport): string {
  if (isStopped) return `${name} is stopped`;
  const { since, attempts, reason } = failing!;
  return `${name} has failed ${formatCounted(attempts, "time")} since ${
    shownTime(since)
  }: ${reason}`;
}

function describeAudit({ audit }: ServiceStatus): string {
  if (audit === undefined) return "not known";
  const { endedAt, position, sound } = audit;
  const result = sound ? "sound" : "NOT SOUND";
  return `${shownTime(endedAt)}, ${result}, up to position ${position}`;
}

function describeBackup({ backup }: ServiceStatus, now: number): string {
  if (backup === undefined) return "not known";
  const { endedAt, position, file, lacks, lacksSince } = backup;
  const since = lacksSince === undefined
    ? ""
    : ` of the last ${formatAge(now - Date.parse(lacksSince))}`;
  const lag = lacks === 0 ? "lacks nothing" : `lacks ${formatCounted(lacks, "event")}${since}`;
  return `${shownTime(endedAt)}, up to position ${position}, ${lag}: ${file}`;
}

function describeExpiring(liveKeys: readonly ApiKey[], now: number): string[] {
  return expiringKeys(liveKeys, now).map(({ id, label, expiresAt }) => {
    return `${id} (${label}) expires at ${formatMinute(expiresAt)}`;
  });
}

/** Whether a commit is on more than one disk when it is acknowledged; `undefined` if only the server knows. */
function isReplicated({ kind, standbyNames }: ServiceStatus): boolean | undefined {
  if (kind === "postgres") return standbyNames !== "";
  return kind === "file" || kind === "memory" ? false : undefined;
}

function describeReplication(status: ServiceStatus): string {
  const replicated = isReplicated(status);
  if (replicated === undefined) return "as the server keeps them";
  if (replicated) return `replicated: synchronous_standby_names = ${status.standbyNames}`;
  return status.kind === "postgres"
    ? "on the disk of the primary alone: synchronous_standby_names is empty"
    : "on this disk alone";
}

function titleCase(name: string): string {
  return `${name[0].toUpperCase()}${name.slice(1)}`;
}

function shownTime(time: string): string {
  return formatSecond(Date.parse(time));
}

function formatAge(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 120) return formatCounted(minutes, "minute");
  const hours = Math.round(minutes / 60);
  return hours < 48 ? formatCounted(hours, "hour") : formatCounted(Math.round(hours / 24), "day");
}
