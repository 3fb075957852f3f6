/** An instance of the engine, its removal of Idempotency-Keys, and its name in metrics. */

export { createInstance, type Instance } from "../instance.ts";
export { IdempotencyKeySweep } from "../idempotency/idempotency_key_sweep.ts";
export { DASHED_NAME, SQL_NAME } from "../names.ts";
