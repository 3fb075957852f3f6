/** The animal on whose row in the list the keys are. */

import { signal } from "@preact/signals";

export const activeId = signal<number | undefined>(undefined);
