/** The window at /window: a page on which people see and change the animals. It uses only the interface. */

import { reasonOf } from "eventstore-less/startup";
import type { HttpResponse } from "../api/http_response.ts";
import { NEVER_STORED } from "../api/http_response.ts";
import type { Logger } from "../runtime/logger.ts";
import { loadWindow } from "this-runtime/page_scripts.ts";
import { commandName } from "../runtime/words.ts";
import { STYLES } from "../window/styles.ts";
import HTML from "../window/window.html" with { type: "text" };
import { pagePolicy } from "./docs/page_policy.ts";
import { type StaticAsset, staticAsset } from "./docs/static_asset.ts";

const UNAVAILABLE =
  "The window cannot be shown, because its script could not be made. The log of the service says why.\n";

/** The page and its files, each by its path. `load` resolves to the script of the page. */
export function windowAssets(
  report: Logger,
  load: () => Promise<string> = loadWindow,
): ReadonlyMap<string, StaticAsset> {
  const script = new Script(report, load);
  const policy = {
    ...pagePolicy({ styles: "'self'", requests: "'self'" }),
    // A page that opens this one, or that this one opens, gets no handle on it.
    "cross-origin-opener-policy": "same-origin",
  };
  const page = staticAsset("text/html; charset=utf-8", () => HTML, policy);
  const style = staticAsset("text/css; charset=utf-8", () => STYLES);
  const scriptAsset = staticAsset("text/javascript; charset=utf-8", () => script.text());
  return new Map([
    ["/window", script.guard(page)],
    ["/window/window.css", style],
    ["/window/window.js", script.guard(scriptAsset)],
  ]);
}

/** The script of the page, which is made once. */
class Script {
  readonly #report: Logger;
  readonly #load: () => Promise<string>;
  #text: Promise<string> | undefined;
  #isReported = false;

  constructor(report: Logger, load: () => Promise<string>) {
    this.#report = report;
    this.#load = load;
  }

  /** After a failure, the next call tries again. */
  text(): Promise<string> {
    if (this.#text === undefined) {
      this.#text = this.#load();
      this.#text.catch(() => this.#text = undefined);
    }
    return this.#text;
  }

  /** Without the script, responds with 503 instead, and the first failure is logged. */
  guard(asset: StaticAsset): StaticAsset {
    return async (requestHeaders) => {
      try {
        await this.text();
      } catch (error) {
        this.#reportOnce(error);
        return unavailable();
      }
      return await asset(requestHeaders);
    };
  }

  #reportOnce(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const remedy = `run ${commandName("bundle")} in the folder of the program, with a network`;
    this.#report("error", "window_unavailable", { reason: reasonOf(error), remedy });
  }
}

function unavailable(): HttpResponse {
  return {
    status: 503,
    headers: { ...NEVER_STORED, "x-content-type-options": "nosniff", "retry-after": "60" },
    contentHeaders: { "content-type": "text/plain; charset=utf-8" },
    body: UNAVAILABLE,
  };
}
