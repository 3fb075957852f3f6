/**
 * Measures the page of this checkout and of another one in turns, in Chromium, and prints ratios.
 *
 *     deno run --allow-all --lock=test/deno.lock test/bench/window.ts [DIR] [ROUNDS] [TEXT]
 *
 * `TEXT` is a part of the name of the measurements that are wanted.
 */

import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Page } from "../support/chromium.ts";
import { launchChromium } from "../support/launch_chromium.ts";
import { TempStore } from "../support/temp_store.ts";
import { fillByCheckout, ROOT, startService } from "./processes.ts";

const PETS = 10_000;
const CHANGES = 1_000;
const CONNECTIONS = 10;
const SLOW = {
  offline: false,
  latency: 400,
  downloadThroughput: 50 * 1_024,
  uploadThroughput: 50 * 1_024,
};
const WHEEL_PIXELS = 3_000;
const WHEEL_PAUSE_MS = 16;
const LONG_FRAME_MS = 50;
const SCROLL_LIMIT_MS = 600_000;

/** A service, and a key for it. */
interface Shop {
  address: string;
  token: string;
}

type Numbers = Record<string, number>;

const MEASUREMENTS: Record<string, (browser: Page, shop: Shop) => Promise<Numbers>> = {
  "first row, slow network": firstRow,
  "1,000 changes elsewhere": changesElsewhere,
  "scroll to the end": scrollToEnd,
};

const [dir = ".", rounds = "3", text = ""] = Deno.args;
const roots = [ROOT, pathToFileURL(`${resolve(dir)}/`)];
await using temp = await TempStore.make();
await using stack = new AsyncDisposableStack();
const shops: Shop[] = [];
for (const [place, root] of roots.entries()) {
  const kvPath = `${temp.folder}/${place}.sqlite3`;
  const token = await fillByCheckout(root, kvPath, PETS);
  const { port } = stack.use(await startService(kvPath, { root }));
  shops.push({ address: `http://127.0.0.1:${port}`, token });
}
const browser = await launchChromium();
stack.defer(() => browser.close());
for (const [name, measure] of Object.entries(MEASUREMENTS)) {
  if (!name.includes(text)) continue;
  const samples: Numbers[][] = shops.map(() => []);
  for (let round = 0; round < Number(rounds); round++) {
    // ABBA, so that other load on the machine affects both.
    const order = round % 2 === 0 ? [0, 1] : [1, 0];
    for (const place of order) samples[place].push(await measure(browser, shops[place]));
  }
  for (const number of Object.keys(samples[0][0])) {
    const [own, other] = samples.map((them) => median(them.map((it) => it[number])));
    const ratio = (own / other).toFixed(2);
    console.log(`${name}: ${number}: this ${own.toFixed()}, other ${other.toFixed()}, ${ratio}`);
  }
}

/** A cold load on a slow network. */
async function firstRow(browser: Page, shop: Shop): Promise<Numbers> {
  await using opened = await openPage(browser);
  const { page, session } = opened;
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", SLOW);
  let bytes = 0;
  session.on("Network.loadingFinished", ({ encodedDataLength }: Page) => {
    bytes += encodedDataLength;
  });
  // Somebody has signed in before. An earlier version keeps the key in the tab.
  await page.addInitScript(`
    for (const it of [localStorage, sessionStorage]) it.setItem("apiKey /window", "${shop.token}");
    new MutationObserver(() => {
      if (document.querySelector("[data-id]")) window.firstRowMs ??= performance.now();
    }).observe(document, { childList: true, subtree: true });
  `);
  await page.goto(`${shop.address}/window`);
  await page.locator("[data-id]").first().waitFor();
  return { "milliseconds": await page.evaluate("window.firstRowMs"), "bytes": bytes };
}

/** The work of the page's thread while other clients change animals that it shows. */
async function changesElsewhere(browser: Page, shop: Shop): Promise<Numbers> {
  await using opened = await openPage(browser);
  const { page, session } = opened;
  await page.goto(`${shop.address}/window#key=${shop.token}`);
  await page.getByRole("tab", { name: "All 10,000", exact: true }).waitFor();
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await taskMs(session);
  const marker = `Changed ${Math.random()}`;
  let next = 0;
  const change = async () => {
    while (next < CHANGES) {
      next++;
      const isLast = next === CHANGES;
      await patch(shop, PETS - (next % 50), isLast ? marker : `Animal ${next} ${marker}`);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, change));
  await page.getByText(marker, { exact: true }).waitFor();
  return { "thread milliseconds": await taskMs(session) - before };
}

async function patch({ address, token }: Shop, id: number, name: string): Promise<void> {
  const response = await fetch(`${address}/v1/pets/${id}`, {
    method: "PATCH",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ name }),
  });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`A change got ${response.status}`);
}

async function taskMs(session: Page): Promise<number> {
  const { metrics } = await session.send("Performance.getMetrics");
  return metrics.find(({ name }: { name: string }) => name === "TaskDuration").value * 1_000;
}

async function scrollToEnd(browser: Page, shop: Shop): Promise<Numbers> {
  await using opened = await openPage(browser);
  const { page, session } = opened;
  await page.goto(`${shop.address}/window#key=${shop.token}`);
  await page.getByRole("tab", { name: "All 10,000", exact: true }).waitFor();
  await page.locator("[data-id]").nth(5).hover();
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const before = await taskMs(session);
  await page.evaluate(`
    window.frames = [];
    let last = performance.now();
    const note = (now) => {
      window.frames.push(now - last);
      last = now;
      requestAnimationFrame(note);
    };
    requestAnimationFrame(note);
  `);
  const startMs = performance.now();
  while (!await page.evaluate("document.querySelector('[data-id=\"1\"]') !== null")) {
    if (performance.now() - startMs > SCROLL_LIMIT_MS) throw new Error("The end is not reached");
    await page.mouse.wheel(0, WHEEL_PIXELS);
    await new Promise((resolve) => setTimeout(resolve, WHEEL_PAUSE_MS));
  }
  const frames: number[] = await page.evaluate("window.frames");
  return {
    "milliseconds": performance.now() - startMs,
    "thread milliseconds": await taskMs(session) - before,
    "frames over 50 ms": frames.filter((ms) => ms > LONG_FRAME_MS).length,
    "longest frame ms": Math.max(...frames),
  };
}

/** A page of a session of its own, with nothing in its cache. */
async function openPage(browser: Page) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 844 } });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  return { page, session, [Symbol.asyncDispose]: () => context.close() };
}

function median(numbers: number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}
