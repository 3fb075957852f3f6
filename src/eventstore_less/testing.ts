/**
 * What tests of an application or of another store need: a store in memory, a runtime with a clock and ids that a test
 * sets, and the contract of a store. Nothing of it needs a test framework.
 *
 * @module
 */

export { FakeRuntime } from "./testing/fake_runtime.ts";
export { openMemoryStore } from "./testing/open_memory_store.ts";
export { type OpenEmptyStore, STORE_CONTRACT } from "./testing/store_contract.ts";
