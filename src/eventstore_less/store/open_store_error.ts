import { type NamedStore, type StoreLocation, storeName } from "./store_location.ts";
import { words } from "../words.ts";

/** The store cannot be opened, or it is not ours. The message names the store and the reason, on one line. */
export class OpenStoreError extends Error {
  /** The name of the class. */
  override name: string = "OpenStoreError";

  /** `reason` follows the name of the store: "it does not answer within 3000 ms". */
  constructor(location: StoreLocation | NamedStore, reason: string) {
    const { storeSetting, databaseSetting } = words();
    const [what, setting] = location.kind === "postgres"
      ? ["the", databaseSetting]
      : ["the store", storeSetting];
    const link = location.kind === "file" ? location.link : undefined;
    const sources = [setting, link].filter((it) => it !== undefined);
    const source = sources.length === 0 ? "" : ` (${sources.join(": ")})`;
    const line = reason.replaceAll("\n", " ");
    super(`Cannot open ${what} ${storeName(location)}${source}: ${line}`);
  }
}
