import { LogDamagedError } from "eventstore-less";
import { acceptAppends, eventOf, readLog } from "eventstore-less/parts";
import { reasonOf } from "eventstore-less/startup";
import type { Store } from "eventstore-less/store";
import { commandName } from "../../src/runtime/words.ts";
import { APPLICATION } from "../../src/application.ts";
import { ConfigError } from "../../src/settings/config.ts";
import { ApiKeyLabel } from "../../events/api_key.ts";
import { type ApiKey, type ApiKeyState, stateOf } from "../../src/keys/api_key.ts";
import {
  issueApiKey,
  revokeApiKey,
  rotateApiKey,
  type ShowApiKey,
  UnrotatableApiKeyError,
} from "../../src/keys/write_api_key.ts";
import { listApiKeys } from "../../src/keys/api_key_reader.ts";
import { escapeInvisible } from "../../src/runtime/escape_invisible.ts";
import { configuredStore } from "../cli/configured_store.ts";
import { formatMinute, formatSecond, shorten } from "../cli/format.ts";
import { progressOf } from "../cli/progress.ts";
import { parseDuration } from "../cli/flag_values.ts";
import { UsageError } from "../cli/table_entry.ts";
import {
  CommandRefusedError,
  operatorCommand,
  print,
  say,
  withInstance,
  write,
} from "../cli/run_command.ts";

/** Maximum width of the table, in columns of a terminal. */
const TABLE_WIDTH = 112;

const DATE_LENGTH = "2026-11-20".length;

/** A key, and the time of the last event that it caused. */
type ListedApiKey = ApiKey & { lastUse?: string };

let isChanging = false;

interface Flags {
  "label"?: string;
  "read-only"?: boolean;
  "expires-in"?: string;
  "overlap"?: string;
  "last-use"?: boolean;
  "json"?: boolean;
}

export const command = operatorCommand<Flags>({
  interrupt() {
    if (!isChanging) return "Interrupted.";
    return `Interrupted. ${commandName("keys list")} shows whether a key was changed.`;
  },
  async run(flags, [action, keyId], usage) {
    isChanging = action !== "list";
    if (configuredStore().kind === "memory") {
      throw new ConfigError("KV_PATH must not be :memory:, which keeps no key; set it to a file");
    }
    expectUsage(usage.find((line) => line.split(" ")[1] === action), action, flags, keyId);
    if (action === "issue") await issue(flags);
    else if (action === "list") await list(flags);
    else if (action === "rotate") await rotate(keyId, flags);
    else await revoke(keyId);
  },
});

/** Throws unless the arguments are those that the usage of the action names. */
function expectUsage(
  usage: string | undefined,
  action: string | undefined,
  flags: Flags,
  keyId: string | undefined,
): void {
  if (usage === undefined) {
    const wrong = action === undefined ? "" : `, not ${JSON.stringify(action)}`;
    throw new UsageError(`Use issue, list, rotate or revoke${wrong}`);
  }
  const flag = Object.keys(flags).find((name) => !usage.includes(`--${name}`));
  if (flag !== undefined) throw new UsageError(`--${flag} cannot be used with ${action}`);
  const takesId = usage.includes(" ID");
  if (takesId && keyId === undefined) {
    throw new Error(`${action} needs the id of a key: run ${commandName("keys list")}`);
  }
  if (!takesId && keyId !== undefined) {
    throw new UsageError(`Unexpected argument ${JSON.stringify(keyId)}`);
  }
}

async function issue(flags: Flags): Promise<void> {
  const label = labelOf(flags);
  if (label === undefined) {
    throw new UsageError("--label is required: the purpose or the holder of the key");
  }
  const lifetimeMs = lifetimeOf(flags);
  const apiKey = await withInstance(async (instance) => {
    const expiresAt = lifetimeMs === undefined ? undefined : instance.runtime.now() + lifetimeMs;
    const terms = { label, isReadOnly: flags["read-only"], expiresAt };
    const { id } = await issueShown((show) => issueApiKey(instance, terms, show));
    return { id, expiresAt };
  }, { create: true, accept: (store) => acceptAppends(APPLICATION, store) });
  sayIssued(apiKey);
}

function sayIssued({ id, expiresAt }: Pick<ApiKey, "id" | "expiresAt">): void {
  const end = expiresAt === undefined ? "" : `, valid until ${formatSecond(expiresAt)}`;
  say(`Issued key ${id}${end}. Save it now: it cannot be shown again.`);
}

/** Prints the key before issuing it, so that a key that could not be printed never becomes valid. */
async function issueShown<T>(issue: (show: ShowApiKey) => Promise<T>): Promise<T> {
  let shownId: string | undefined;
  try {
    return await issue(async ({ id, token }) => {
      const isPrinted = await write(new TextEncoder().encode(token)).catch(reasonOf);
      if (isPrinted !== true) {
        const reason = isPrinted || "standard output is closed";
        throw new Error(`The key could not be printed, so it was not issued: ${reason}`);
      }
      shownId = id;
    });
  } catch (error) {
    if (error instanceof UnrotatableApiKeyError) {
      throw new CommandRefusedError(`${error.message}; see keys list`);
    }
    if (shownId === undefined) throw error;
    const validity = `the printed key ${shownId} is valid only if keys list shows it`;
    throw new Error(`${reasonOf(error)}; ${validity}`);
  } finally {
    if (shownId !== undefined) await print("");
  }
}

async function list(flags: Flags): Promise<void> {
  const { json = false, "last-use": showsUse = false } = flags;
  const apiKeys: ListedApiKey[] = await withInstance(async ({ store, heads }) => {
    const { position, apiKeys } = await heads.use(async ({ head }) => {
      return { position: head.position, apiKeys: await listApiKeys(store, head) };
    });
    if (!showsUse) return apiKeys;
    const uses = await lastUses(store, position).catch((error) => {
      if (!(error instanceof LogDamagedError)) throw error;
      say(`The last uses are not known. ${error.message}`);
    });
    return apiKeys.map((apiKey) => ({ ...apiKey, lastUse: uses?.get(apiKey.id) }));
  });
  const now = Date.now();
  apiKeys.sort((one, other) => one.issuedAt - other.issuedAt);
  const shown = json ? inJson(apiKeys, now) : table(apiKeys, now, showsUse);
  await print(shown);
}

/** Reads the whole log for the time of the last event that each actor caused, up to a position. Rejects with `LogDamagedError`. */
async function lastUses(store: Store, to: number): Promise<Map<string, string>> {
  const uses = new Map<string, string>();
  const showRead = progressOf("Reading", "events");
  for await (const lines of readLog(store, { from: 1, to })) {
    for (const { line } of lines) {
      const event = eventOf(APPLICATION, line);
      if (event !== undefined) uses.set(event.actor, event.time);
    }
    showRead(lines.at(-1)!.position, to);
  }
  return uses;
}

function inJson(apiKeys: ListedApiKey[], now: number): string {
  return escapeInvisible(JSON.stringify(apiKeys.map((apiKey) => members(apiKey, now))));
}

/** All members of a key but the hash of its token. */
function members(apiKey: ListedApiKey, now: number) {
  const instant = (ms?: number) => ms === undefined ? undefined : new Date(ms).toISOString();
  return {
    id: apiKey.id,
    label: apiKey.label,
    state: shownStateOf(apiKey, now),
    readOnly: apiKey.isReadOnly ?? false,
    issuedAt: instant(apiKey.issuedAt),
    expiresAt: instant(apiKey.expiresAt),
    revokedAt: instant(apiKey.revokedAt),
    lastUse: apiKey.lastUse,
  };
}

function table(apiKeys: ListedApiKey[], now: number, showsUse: boolean): string {
  const useTitle = showsUse ? ["LAST USE"] : [];
  const rows = [["ID", "STATE", "ACCESS", "ISSUED", ...useTitle]];
  const labels = ["LABEL"];
  for (const apiKey of apiKeys) {
    const issued = formatMinute(apiKey.issuedAt).slice(0, DATE_LENGTH);
    const lastUse = apiKey.lastUse?.slice(0, DATE_LENGTH) ?? "-";
    const access = apiKey.isReadOnly ? "read" : "write";
    const uses = showsUse ? [lastUse] : [];
    rows.push([apiKey.id, stateWithTime(apiKey, now), access, issued, ...uses]);
    labels.push(escapeInvisible(apiKey.label));
  }
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  const left = TABLE_WIDTH - widths.reduce((sum, width) => sum + width + 2, 0);
  return rows.map((row, index) => {
    const cells = row.map((cell, column) => cell.padEnd(widths[column]));
    return [...cells, shorten(labels[index], left)].join("  ");
  }).join("\n");
}

/** The state of a key for people: a key whose successor was issued retires, and is valid until then. */
function shownStateOf(apiKey: ApiKey, now: number): ApiKeyState | "retiring" {
  const state = stateOf(apiKey, now);
  return state === "live" && apiKey.revokedAt !== undefined ? "retiring" : state;
}

/** The state with the time at which it ends or has begun, for example `retiring until 2026-11-20 08:00Z`. */
function stateWithTime(apiKey: ApiKey, now: number): string {
  const state = shownStateOf(apiKey, now);
  if (state === "revoked") return `revoked ${formatMinute(apiKey.revokedAt!)}`;
  const end = Math.min(apiKey.expiresAt ?? Infinity, apiKey.revokedAt ?? Infinity);
  if (state === "expired") return `expired ${formatMinute(end)}`;
  return end === Infinity ? state : `${state} until ${formatMinute(end)}`;
}

async function rotate(keyId: string, flags: Flags): Promise<void> {
  const overlapMs = parseDuration("--overlap", flags.overlap ?? "24h");
  const terms = { overlapMs, label: labelOf(flags), lifetimeMs: lifetimeOf(flags) };
  const { successor, predecessor, retiresAt } = await withInstance(
    (instance) => issueShown((show) => rotateApiKey(instance, keyId, terms, show)),
    { accept: (store) => acceptAppends(APPLICATION, store) },
  );
  say(`Key ${nameOf(predecessor)} stays valid until ${formatSecond(retiresAt)}.`);
  sayIssued(successor);
}

async function revoke(keyId: string): Promise<void> {
  const apiKey = await withInstance((instance) => revokeApiKey(instance, keyId), {
    accept: (store) => acceptAppends(APPLICATION, store),
  });
  if (apiKey === undefined) {
    throw new CommandRefusedError(`No key has the id ${keyId}; see keys list`);
  }
  say(
    apiKey.isRevoked
      ? `Key ${nameOf(apiKey)} was already revoked.`
      : `Revoked key ${nameOf(apiKey)}.`,
  );
}

function nameOf({ id, label }: { id: string; label: string }): string {
  return `${id} (${escapeInvisible(label)})`;
}

function labelOf({ label }: Flags): string | undefined {
  const fault = label === undefined ? undefined : ApiKeyLabel.safeParse(label).error;
  if (fault === undefined) return label;
  throw new UsageError(`--label ${fault.issues[0].message}`);
}

function lifetimeOf({ "expires-in": text }: Flags): number | undefined {
  return text === undefined ? undefined : parseDuration("--expires-in", text);
}
