import { importTestPackage } from "./import_test_package.ts";
import { permitted } from "./permitted.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** The part of playwright-core that the tests use. */
export interface Browser extends AsyncDisposable {
  newPage(options?: {
    colorScheme?: "dark" | "light";
    viewport?: { width: number; height: number };
  }): Promise<Page>;
}

export interface Page {
  click(selector: string): Promise<void>;
  emulateMedia(media: { colorScheme: "dark" | "light" }): Promise<void>;
  evaluate<Result>(script: string): Promise<Result>;
  evaluate<Argument, Result>(
    script: (argument: Argument) => Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
  fill(selector: string, text: string): Promise<void>;
  goto(url: string): Promise<unknown>;
  locator(selector: string): Locator;
  on(event: "console", take: (message: { text(): string }) => void): void;
  on(event: "pageerror", take: (error: Error) => void): void;
  on(event: "request", take: (request: { url(): string }) => void): void;
}

interface Locator {
  click(): Promise<void>;
  fill(text: string): Promise<void>;
  first(): Locator;
  locator(selector: string): Locator;
  textContent(): Promise<string | null>;
  waitFor(options: { state: "detached" }): Promise<void>;
}

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
  const { chromium } = await importTestPackage("playwright-core");
  return await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-quic", "--disable-background-networking"],
  });
}
