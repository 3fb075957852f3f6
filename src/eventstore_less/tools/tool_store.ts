/** What tools work on: an open store, a store at a location, or an export of a log. */

import type { Application } from "../application.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/store.ts";
import type { StoreLocation } from "../store/store_location.ts";

/** What tools need of an open store. An `EventStore` has it. */
export interface ToolStore {
  readonly application: Application;
  readonly store: Store;
  readonly runtime: Runtime;
}

/** A store that a tool opens only to read it, whatever its head says, and also if its file is damaged. */
export interface StoreAt {
  readonly application: Application;
  /** As {@linkcode openEventStore} takes it. */
  readonly location: string | StoreLocation;
}

/** Each call reads the bytes of an export from the first one. */
export type Export = () => AsyncIterable<Uint8Array>;

/** An export of the log of an application: the path of a file, or what reads it. */
export interface ExportedLog {
  readonly application: Application;
  readonly source: string | Export;
}
