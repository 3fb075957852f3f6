import { STORE_FORMAT, UPGRADED_FORMAT } from "eventstore-less/startup";
import { NAME, VERSION } from "../../src/settings/version.ts";

/** What `--version` prints. `pets-upgrade` reads the formats in it. */
export function versionLine(): string {
  return `${NAME} ${VERSION} (stores of format ${STORE_FORMAT}, upgrades ${UPGRADED_FORMAT})`;
}
