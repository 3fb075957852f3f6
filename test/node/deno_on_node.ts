/**
 * Lets Node run `src/main.ts` as it is: resolves the imports of `deno.json` to packages of npm in the folder `PACKAGES`,
 * and provides those parts of Deno that `src/` uses. Without Deno, these few parts of `src/` would be written again.
 *
 *     PACKAGES=FOLDER node --import ./test/node/deno_on_node.ts src/main.ts
 */

import { Buffer } from "node:buffer";
import { readFileSync, write } from "node:fs";
import type { AddressInfo } from "node:net";
import module, { createRequire } from "node:module";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const PACKAGES = pathToFileURL(`${process.env.PACKAGES}/`).href;
const CONFIG = new URL("../../deno.json", import.meta.url);
const { imports } = JSON.parse(readFileSync(CONFIG, "utf8"));

/** The longest first: a name that ends in a slash stands for all that begin with it. */
const NAMES = Object.keys(imports).sort((one, other) => other.length - one.length);

/** The name of a package in a specifier such as `npm:/pg@8.23.1/`, before its version. */
const PACKAGE = /^npm:\/?(@?[^@]+)@[^/]+/;

interface Context {
  parentURL?: string;
  importAttributes?: Record<string, string>;
}

const hooks = {
  resolve(specifier: string, context: Context, next: (to: string, context: Context) => unknown) {
    const name = NAMES.find((it) => it.endsWith("/") ? specifier.startsWith(it) : specifier === it);
    if (name === undefined) return next(specifier, context);
    const isOfProject = imports[name].startsWith("./");
    if (isOfProject) {
      const { href } = new URL(imports[name] + specifier.slice(name.length), CONFIG);
      return next(href, context);
    }
    const target = imports[name].replace(PACKAGE, "$1") + specifier.slice(name.length);
    return next(target, { ...context, parentURL: PACKAGES });
  },
  load(url: string, context: Context, next: (url: string, context: Context) => unknown) {
    if (context.importAttributes?.type !== "text") return next(url, context);
    const source = `export default ${JSON.stringify(readFileSync(new URL(url), "utf8"))}`;
    return { format: "module", source, shortCircuit: true };
  },
};
// Deno has no such hooks, and its types do not name them.
(module as unknown as { registerHooks(all: typeof hooks): void }).registerHooks(hooks);

interface WebRequest extends Request {
  ip: string;
}

/** The used part of srvx. */
interface Srvx {
  FastResponse: typeof Response;
  serve(options: {
    hostname?: string;
    port: number;
    silent: true;
    gracefulShutdown: false;
    fetch(request: WebRequest): Response | Promise<Response>;
  }): {
    ready(): Promise<unknown>;
    close(): Promise<void>;
    node: { server: { address(): AddressInfo } };
  };
}

const require = createRequire(PACKAGES);
const { openKv } = require("@deno/kv");
const { serve, FastResponse }: Srvx = await import(
  pathToFileURL(require.resolve("srvx/node")).href
);

type Handler = (request: Request, info: { remoteAddr: { hostname: string } }) => Promise<Response>;
let handle: Handler;
let onError: (error: unknown) => Response;

// `Deno.serve` listens before it returns, and Node only later, so this listens before the service starts.
const server = serve({
  hostname: process.env.HOST,
  port: Number(process.env.PORT ?? 8000),
  silent: true,
  gracefulShutdown: false,
  fetch: async (request) => {
    try {
      return await handle(request, { remoteAddr: { hostname: request.ip } });
    } catch (error) {
      return onError(error);
    }
  },
});
await server.ready();
const { address: hostname, port } = server.node.server.address();

const writeBytes = promisify(write);

const deno = {
  stderr: { write: async (bytes: Uint8Array) => (await writeBytes(2, bytes)).bytesWritten },
  env: { get: (name: string) => process.env[name] },
  // Otherwise, the package calls `Deno.openKv()`.
  openKv: (path: string) => openKv(path, { implementation: "sqlite" }),
  serve(options: { onError: typeof onError }, handler: Handler) {
    handle = handler;
    ({ onError } = options);
    return {
      addr: { transport: "tcp", hostname, port },
      finished: new Promise(() => {}),
      shutdown: () => server.close(),
    };
  },
};
// Node 24 lacks these, and Node 26 has them.
const bytesOfHex = {
  fromHex: (text: string) => new Uint8Array(Buffer.from(text, "hex")),
  toHex(this: Uint8Array) {
    return Buffer.from(this).toString("hex");
  },
};
Uint8Array.fromHex ??= bytesOfHex.fromHex as typeof Uint8Array.fromHex;
Uint8Array.prototype.toHex ??= bytesOfHex.toHex;
Object.assign(globalThis, { Deno: deno, Response: FastResponse });
