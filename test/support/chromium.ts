import type { Browser } from "playwright-core";
import { permitted } from "./permitted.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Path of the browser for the tests of the page; `undefined` if it is missing or permissions are missing. */
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

/** Starts the browser without background traffic. */
export async function launchChromium(executablePath: string | undefined): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  return await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--disable-background-networking"],
  });
}
