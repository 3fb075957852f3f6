/** Makes an empty file in the folder for temporary files (TMPDIR), and resolves to its path. */
export const makeTempFile = (prefix: string): Promise<string> => Deno.makeTempFile({ prefix });
