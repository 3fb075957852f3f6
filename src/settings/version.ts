/** The name of the program and, in lower case, of its schemas, tables and metrics. */
export const NAME = "Animal Store";

/** The version of the service and its tools. Its first number is the format of the store, and no schema names a later release. */
export const VERSION = "6.0.0";
