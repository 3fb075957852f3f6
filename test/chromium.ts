import type { Browser } from "playwright-core";
import { permitted } from "./permitted.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The browser that the tests of the page drive, or `undefined` where there is none or they may not. */
export function chromiumPath(): string | undefined {
  if (!permitted("read", "write", "run", "net", "env", "sys")) return undefined;
  return PLACES.find((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch {
      return false;
    }
  });
}

/** Starts that browser, without a window and without traffic of its own. */
export async function launchChromium(executablePath: string | undefined): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--disable-background-networking"],
  });
}
