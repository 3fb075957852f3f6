/** What a load of the page takes over the wire. */

import { assertGreater, assertLess } from "@std/assert";
import { FIELDS } from "../../src/window/data/fields.ts";
import { type Page, testInBrowser } from "../support/chromium.ts";
import { fillStore } from "../support/fill_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { press, row, tab } from "../support/window_controls.ts";

/** The page with a name, a category, a status and a note; and what each further field may take. */
const FIELDS_OF_LIMIT = 4;
const FIELD_LIMIT_BYTES = 150;
const PAGE_LIMIT_BYTES = 50 * 1_024 + FIELD_LIMIT_BYTES * (FIELDS.length - FIELDS_OF_LIMIT);

const WARM_LIMIT_BYTES = 10 * 1_024;

testInBrowser(
  "the page takes at most 50 KB with its scripts and its styles, and a later load of 10,000 animals takes at most 10 KB",
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
    const warmBytes = total(warm.values());
    assertLess(warmBytes, WARM_LIMIT_BYTES);
    const cold = countBytes(session);
    await session.send("Network.setCacheDisabled", { cacheDisabled: true });
    await reload();
    const ofPage = [...cold.values()].filter(({ type }) =>
      ["Document", "Script", "Stylesheet"].includes(type)
    );
    assertLess(total(ofPage), PAGE_LIMIT_BYTES);
    assertGreater(total(ofPage), warmBytes);
  },
);

interface Received {
  type: string;
  bytes: number;
}

/** Notes the bytes that the browser receives from now on, by request, with the headers of the responses. */
function countBytes(session: Page): Map<string, Received> {
  const received = new Map<string, Received>();
  session.on("Network.responseReceived", ({ requestId, type, response }: Page) => {
    received.set(requestId, { type, bytes: response.encodedDataLength });
  });
  // A stream does not end.
  session.on("Network.dataReceived", ({ requestId, encodedDataLength }: Page) => {
    const request = received.get(requestId);
    if (request !== undefined) request.bytes += encodedDataLength;
  });
  session.on("Network.loadingFinished", ({ requestId, encodedDataLength }: Page) => {
    const request = received.get(requestId);
    if (request !== undefined) request.bytes = encodedDataLength;
  });
  return received;
}

function total(received: Iterable<Received>): number {
  return [...received].reduce((sum, { bytes }) => sum + bytes, 0);
}
