/**
 * The format of stores belongs to the engine, and the releases of events to the application: neither follows from the
 * other. This module imports nothing, so whoever prints a version need not load the engine.
 */

/** The format of the stores that this version writes. */
export const STORE_FORMAT = 7;

/** The older format that this version also reads. The first commit makes it the present one. */
export const UPGRADED_FORMAT = 6;
