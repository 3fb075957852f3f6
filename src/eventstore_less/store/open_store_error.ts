import type { StoreDamagedError } from "./store_errors.ts";
import { type NamedStore, type StoreLocation, storeName } from "./store_location.ts";

/** The store cannot be opened, or it is not ours. The message names the store and the reason, on one line. */
export class OpenStoreError extends Error {
  override name = "OpenStoreError";
  readonly damage: StoreDamagedError | undefined;

  constructor(location: StoreLocation | NamedStore, reason: string, damage?: StoreDamagedError) {
    const [what, setting] = location.kind === "postgres"
      ? ["the", "DATABASE_URL"]
      : ["the store", "KV_PATH"];
    const link = location.kind === "file" ? location.link : undefined;
    const source = link === undefined ? setting : `${setting}: ${link}`;
    const line = reason.replaceAll("\n", " ");
    super(`Cannot open ${what} ${storeName(location)} (${source}): ${line}`);
    this.damage = damage;
  }
}
