/** Names the commands in a text for operators as they are called on this runtime. On Deno, the text stays as it is. */
export const asCalled = (text: string): string => text;
