import { existsSync } from "node:fs";
import { importTestPackage } from "./import_test_package.ts";
import { permitted } from "./permitted.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** A page of playwright-core, whose types are not there because it is imported only at run time. */
// deno-lint-ignore no-explicit-any
export type Page = any;

/** Path of the browser for the tests of the page; `undefined` if it is missing or permissions are missing. */
export function chromiumPath(): string | undefined {
  if (!permitted("read", "write", "run", "net", "env", "sys")) return undefined;
  return PLACES.find(existsSync);
}

/** Starts the browser without background traffic. */
export async function launchChromium(executablePath: string | undefined) {
  const { chromium } = await importTestPackage("playwright-core");
  return await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--disable-background-networking"],
  });
}
