/** The code under test: the real code or a mutant of it, which has a copy of this file. */

export { audit, replay, restore, verifyExport } from "../support/tools.ts";
export { createService } from "../../src/service.ts";
export { WebhookKeys } from "../../src/webhooks/secrets.ts";
export { shutDown } from "../../src/life_cycle/shut_down.ts";
export { issueApiKey } from "../../src/keys/write_api_key.ts";
export { revokeApiKey } from "../../src/keys/write_api_key.ts";
export { rotateApiKey } from "../../src/keys/write_api_key.ts";
export { readLog } from "../../src/eventstore_less/log/read_log.ts";
export {
  ResilientStore,
  RETRY_LIMIT_MS,
} from "../../src/eventstore_less/store/resilience/resilient_store.ts";
export {
  NotAppliedError,
  StoreAwayError,
  UnclearOutcomeError,
} from "../../src/eventstore_less/store/store_errors.ts";

export type Code = typeof import("./code_under_test.ts");
