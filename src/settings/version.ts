/** The version of the service and its tools. Its first number is the format of the store. */
export const VERSION = "6.0.0";
