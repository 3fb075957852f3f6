/** Names the commands in a text for operators as they are called on this runtime. On Deno, the text stays as it is. */
export const asCalled = (text: string): string => text;

/** Returns a value as JSON, and names the commands in its texts likewise. */
export const jsonAsCalled = (value: unknown): string => JSON.stringify(value);
