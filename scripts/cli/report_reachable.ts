/** Says on standard error that a store that is followed is away, or available again. */
export function reportReachable(isThere: boolean, reason?: string): void {
  console.error(
    isThere ? "The store is available again." : `${reason}; waiting until the store answers again`,
  );
}
