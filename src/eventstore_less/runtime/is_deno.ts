/** Whether this runtime is Deno; else it is Node. */
export const IS_DENO = "Deno" in globalThis;
