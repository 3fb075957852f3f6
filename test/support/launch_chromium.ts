import { importTestPackage } from "./import_test_package.ts";
import { isInstalled } from "./store_server.ts";

/** The first one has no windows, and takes two thirds of the time of the second one for the same tests. */
const PLACES = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** A name of this machine that browsers take for another one, without TLS. */
export const OTHER_HOST = "shop.example";

/** The browser; `undefined` if it is not installed. */
export const CHROMIUM_PATH = PLACES.find(isInstalled);

/** Starts the browser without background traffic. */
export async function launchChromium() {
  const { chromium } = await importTestPackage("playwright-core");
  const args = [
    "--no-sandbox",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-gpu",
    "--disable-software-rasterizer",
    `--host-resolver-rules=MAP ${OTHER_HOST} 127.0.0.1`,
  ];
  return await chromium.launch({ executablePath: CHROMIUM_PATH, args });
}
