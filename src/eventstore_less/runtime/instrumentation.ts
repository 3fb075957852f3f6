/**
 * The port for measurements of an instance. No method may wait; an error that one throws is a defect.
 */
export interface Instrumentation {
  /**
   * Counts an event that was appended, a commit that another instance has preceded, or one whose outcome is unclear.
   */
  count(
    what: "events.appended" | "commit.conflicts" | "commit.unclear",
    attributes?: Record<string, string>,
  ): void;
  /** A call of the store ended after so many seconds: a read of that key or range of keys, or a commit. */
  onStoreCall(
    operation: "get" | "list" | "snapshot" | "commit",
    key: readonly unknown[] | undefined,
    seconds: number,
  ): void;
}

/** Measures nothing. */
export const NO_INSTRUMENTATION: Instrumentation = { count() {}, onStoreCall() {} };
