/** What a load of the page takes over the wire. */

import { assertGreater, assertLess } from "@std/assert";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { fillStore } from "../support/fill_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { press, row, tab } from "../support/window_controls.ts";

const PAGE_LIMIT_BYTES = 50 * 1_024;
const WARM_LIMIT_BYTES = 10 * 1_024;

testInBrowser(
  "the script and the styles take at most 50 KB, and a later load of 10,000 animals takes at most 10 KB",
  async ({ open }) => {
    await using temp = await TempStore.make();
    const token = await fillStore(temp.kvPath, 10_000);
    await using service = await ServiceProcess.start(temp.kvPath);
    const page = await open(`/window#key=${token}`, { address: service.address });
    await tab(page, "All 10,000").waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    const reload = async () => {
      await page.reload();
      await row(page, "Animal number 10000").waitFor();
      await tab(page, "All 10,000").waitFor();
      await press(page, /^Access key/);
      await page.getByText("Can see and change everything").waitFor();
    };
    const warm = countBytes(session);
    await reload();
    const warmBytes = total(warm);
    assertLess(warmBytes, WARM_LIMIT_BYTES);
    const cold = countBytes(session);
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    await reload();
    const ofPage = cold.filter(({ type }) => ["Script", "Stylesheet"].includes(type));
    assertLess(total(ofPage), PAGE_LIMIT_BYTES);
    assertGreater(total(ofPage), warmBytes);
  },
);

interface Received {
  type: string;
  bytes: number;
}

/** Notes the bytes that the browser receives from now on, with the headers of the responses. */
function countBytes(session: Page): Received[] {
  const received: Received[] = [];
  const types = new Map<string, string>();
  session.on("Network.responseReceived", ({ requestId, type, response }: Page) => {
    types.set(requestId, type);
    received.push({ type, bytes: response.encodedDataLength });
  });
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }: Page) => {
    received.push({ type: types.get(requestId) ?? "", bytes: encodedDataLength });
  });
  return received;
}

function total(received: readonly Received[]): number {
  return received.reduce((sum, { bytes }) => sum + bytes, 0);
}
