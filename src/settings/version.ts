/** The name of the program and, in lower case, of its schemas, tables and metrics. */
export const NAME = "Animal Store";

/** The release of the service and its tools. No schema of an event names a later one. The format of stores does not follow from it. */
export const VERSION = "7.0.0";
