/** Lets Node load the sources of the service, as `node --import test/node/load_sources.ts` or by an import before others. */

import { readFileSync } from "node:fs";
import module from "node:module";

interface Context {
  importAttributes?: Record<string, string>;
}

/** Resolves `this-runtime/` as the build does. */
const hooks = {
  resolve(specifier: string, context: Context, next: (to: string, context: Context) => unknown) {
    const { href } = new URL("../../src/runtime/node/", import.meta.url);
    return next(specifier.replace(/^this-runtime\//, href), context);
  },
  load(url: string, context: Context, next: (url: string, context: Context) => unknown) {
    if (context.importAttributes?.type !== "text") return next(url, context);
    const source = `export default ${JSON.stringify(readFileSync(new URL(url), "utf8"))}`;
    return { format: "module", source, shortCircuit: true };
  },
};
// Deno has no such hooks, and its types do not name them.
(module as unknown as { registerHooks(all: typeof hooks): void }).registerHooks(hooks);
