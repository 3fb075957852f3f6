/** The message of an error. */
export const errorMessage = (error: Error): string => error.message;
