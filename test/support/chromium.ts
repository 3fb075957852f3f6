import { systemRuntime } from "eventstore-less/startup";
import { assertEquals } from "@std/assert";
import { type FetchHandler, serveFetch } from "./fetch_from.ts";
import { CHROMIUM_PATH, launchChromium } from "./launch_chromium.ts";
import { withSecondTry } from "./second_try.ts";
import { permissions, testNeeding } from "./test_needing.ts";
import { IS_ON_NODE } from "./programs.ts";
import { openRealStore } from "./real_store.ts";
import { ServiceProcess } from "./service_process.ts";
import { TempStore } from "./temp_store.ts";
import { HANG_LIMIT_MS } from "./until.ts";
import { openTestService, TEST_STORES, type TestService } from "./test_service.ts";

const PREFIX = "/shop";

/** Any object of playwright-core. It is imported at run time, so its types are not known. */
// deno-lint-ignore no-explicit-any
export type Page = any;

interface OpenOptions extends Record<string, unknown> {
  address?: string;
  beside?: Page;
  /** Pixels. */
  width?: number;
}

/** A service, its address behind a proxy that adds a path prefix, and what handles the requests of pages there. */
interface Parts {
  service: TestService;
  address: string;
  network: { fetch: FetchHandler };
  /**
   * Opens a page of the service, or of that at another address, in a session of its own, or as another tab of the browser
   * of the page `beside`.
   */
  open: (path: string, options?: OpenOptions) => Promise<Page>;
}

const CHROMIUM = { name: "chromium", isMet: CHROMIUM_PATH !== undefined };
const test = testNeeding(permissions("read", "write", "run", "net", "env", "sys"), CHROMIUM);

let launched: Promise<Page> | undefined;
Deno.test.afterAll(async () => await (await launched)?.close());

/** Declares a test in a real browser. No page may have errors, break its policy, call others or have two streams. */
export function testInBrowser(name: string, check: (parts: Parts) => Promise<void>): void {
  test(`${name}, in a real browser`, () =>
    withSecondTry(name, async () => {
      await using cleanUp = new AsyncDisposableStack();
      const service = await openService(cleanUp);
      const network = { fetch: service.fetch };
      const server = cleanUp.use(serveFetch(behindPrefix(network)));
      const own = `http://127.0.0.1:${server.port}${PREFIX}`;
      const browser = await (launched ??= launchChromium());
      const complaints: string[] = [];
      const open: Parts["open"] = async (path, options = {}) => {
        const { address = own, beside, width = 1280, ...more } = options;
        const viewport = { width, height: 844 };
        const context = beside?.context() ?? await browser.newContext({ ...more, viewport });
        const page = await context.newPage();
        context.setDefaultTimeout(HANG_LIMIT_MS);
        cleanUp.defer(() => context.close());
        const streams = page.streams = new Set<Page>();
        page.on("request", (request: Page) => {
          if (!request.url().startsWith(`${address}/`)) complaints.push(request.url());
          if (request.headers().accept === "text/event-stream") streams.add(request);
          if (streams.size > 1) complaints.push("a second stream");
        });
        page.on("requestfinished", (request: Page) => streams.delete(request));
        page.on("requestfailed", (request: Page) => streams.delete(request));
        page.on("pageerror", (error: Error) => complaints.push(error.message));
        page.on("console", (message: Page) => {
          const text = `${message.text()} (${message.location().url})`;
          // The browser reports every lost connection, and every error that the interface returns.
          // It also reports that a page of another host has no TLS, and a dialog that opens while something has the focus.
          const isExpected =
            /^(@scalar|Failed to load .*(_CONN|_EMPTY|\/v1\/)|The Cross-Origin-Op|Autofocus proc)/;
          if (!isExpected.test(text)) complaints.push(text);
        });
        await page.goto(`${address}${path}`);
        return page;
      };
      await check({ service, address: own, network, open });
      assertEquals(complaints, []);
    }));
}

/** Opens a service. If the programs run on Node, one there on the same file handles its requests. */
async function openService(cleanUp: AsyncDisposableStack): Promise<TestService> {
  if (!IS_ON_NODE) return cleanUp.use(await openTestService({ runtime: systemRuntime }));
  const temp = cleanUp.use(await TempStore.make());
  TEST_STORES.open = () => openRealStore(temp.kvPath);
  const service = cleanUp.use(await openTestService({ runtime: systemRuntime }));
  const onNode = cleanUp.use(await ServiceProcess.start(temp.kvPath));
  const fetchOnNode: FetchHandler = (request) => {
    const { pathname, search } = new URL(request.url);
    const headers = new Headers(request.headers);
    // `fetch()` would decode the body, and keep the header.
    headers.set("accept-encoding", "identity");
    const forwarded = new Request(`${onNode.address}${pathname}${search}`, request);
    return fetch(forwarded, { headers, redirect: "manual" });
  };
  return { ...service, fetch: fetchOnNode };
}

/** A handler that knows only the addresses under the prefix, and gives them to `network` without it. */
function behindPrefix(network: Parts["network"]): FetchHandler {
  return async (request) => {
    const url = new URL(request.url);
    // Besides what the page requests, which is watched, the browser asks for /favicon.ico.
    if (!url.pathname.startsWith(`${PREFIX}/`)) return new Response(null, { status: 204 });
    url.pathname = url.pathname.slice(PREFIX.length);
    const { method, headers, body } = request;
    return await network.fetch(new Request(url, { method, headers, body }));
  };
}
