/** What the page knows of its connection, for every part that waits for it. */

import { signal } from "@preact/signals";

/** The reason if the service does not respond; "" while it does, `undefined` before its first response. */
export const connectionProblem = signal<string | undefined>(undefined);
