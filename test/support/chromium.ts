import { existsSync } from "node:fs";
import { importTestPackage } from "./import_test_package.ts";
import { permitted } from "./permitted.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The part of playwright-core that the tests use. */
export interface Browser extends AsyncDisposable {
  /** Opens a page in a session of its own. */
  newPage(options: {
    colorScheme?: "dark";
    viewport: { width: number; height: number };
  }): Promise<Page>;
}

export interface Page {
  evaluate<Result>(script: string): Promise<Result>;
  getByRole(role: string, options: { name: string | RegExp }): Locator;
  goto(url: string): Promise<unknown>;
  keyboard: { press(key: string): Promise<void> };
  locator(selector: string): Locator;
  on(event: "console", take: (message: { text(): string }) => void): void;
  on(event: "pageerror", take: (error: Error) => void): void;
  on(event: "request", take: (request: { url(): string }) => void): void;
  reload(): Promise<unknown>;
  waitForTimeout(ms: number): Promise<void>;
}

export interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  filter(options: { hasText: string }): Locator;
  first(): Locator;
  getByRole: Page["getByRole"];
  inputValue(): Promise<string>;
  locator(selector: string): Locator;
  scrollIntoViewIfNeeded(): Promise<void>;
  textContent(): Promise<string | null>;
  waitFor(): Promise<void>;
}

/** Path of the browser for the tests of the page; `undefined` if it is missing or permissions are missing. */
export function chromiumPath(): string | undefined {
  if (!permitted("read", "write", "run", "net", "env", "sys")) return undefined;
  return PLACES.find(existsSync);
}

/** Starts the browser without background traffic. */
export async function launchChromium(executablePath: string | undefined): Promise<Browser> {
  const { chromium } = await importTestPackage("playwright-core");
  return await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--disable-background-networking"],
  });
}
