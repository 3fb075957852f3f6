import { minute } from "../cli/format.ts";
import { type ApiKeyState, type KeyTimes, stateOf } from "../../src/log/api_keys.ts";

/** The state of a key for people: a key whose successor was issued retires, and is valid until then. */
export function shownStateOf(key: KeyTimes, now: number): ApiKeyState | "retiring" {
  const state = stateOf(key, now);
  return state === "live" && key.revokedAt !== undefined ? "retiring" : state;
}

/** The state with the time at which it ends or has begun, for example `retiring until 2026-11-20 08:00Z`. */
export function stateWithTime(key: KeyTimes, now: number): string {
  const state = shownStateOf(key, now);
  const end = Math.min(key.expiresAt ?? Infinity, key.revokedAt ?? Infinity);
  if (state === "revoked") return `revoked ${minute(key.revokedAt!)}`;
  if (state === "expired") return `expired ${minute(key.expiresAt!)}`;
  return end === Infinity ? state : `${state} until ${minute(end)}`;
}
