/** The window at /window: a page on which people see and change the animals. It uses only the interface. */

import { hash } from "node:crypto";
import { reasonOf } from "eventstore-less/startup";
import type { HttpResponse } from "../api/http_response.ts";
import { NEVER_STORED } from "../api/http_response.ts";
import type { Logger } from "../runtime/logger.ts";
import type { RequestHeaders } from "../runtime/service_request.ts";
import { loadWindow } from "this-runtime/page_scripts.ts";
import { commandName } from "../runtime/words.ts";
import FIRST_LIST from "../window/first_list.js" with { type: "text" };
import { STYLES } from "../window/styles.ts";
import HTML from "../window/window.html" with { type: "text" };
import { pagePolicy } from "./docs/page_policy.ts";
import { type StaticAsset, staticAsset } from "./docs/static_asset.ts";
import { unknownPathError } from "./routes.ts";

const UNAVAILABLE =
  "The window cannot be shown, because its script could not be made. The log of the service says why.\n";

/** Without comments and without the ends and beginnings of lines, which only people need. */
const TEXT = HTML.replaceAll(/<!--[^]*?-->|\n */g, "");

const PAGE = "/window";
const STYLE = "/window/window.css";

/** The script that the page names. It imports some of the others at once, and the rest when they are needed. */
const ENTRY = "main.js";
const ENTRY_ELEMENT = '<script src="window/main.js"';

/** The first script is in the page, without comments and indentation, and the policy names it by its hash. */
const FIRST_SCRIPT = FIRST_LIST.replaceAll(/\/\*[^]*?\*\/|\/\/ .*|^ +/gm, "");
const FIRST_ELEMENT = "<script></script>";

const POLICY = {
  ...pagePolicy({
    scripts: `'self' 'sha256-${hash("sha256", FIRST_SCRIPT, "base64")}'`,
    styles: "'self'",
    requests: "'self'",
  }),
  // A page that opens this one, or that this one opens, gets no handle on it.
  "cross-origin-opener-policy": "same-origin",
};

/** The texts of the scripts by their names. */
type Scripts = ReadonlyMap<string, string>;

/**
 * Returns a function that finds the page, its styles and its scripts by their paths. `load` resolves to the scripts of the
 * page.
 */
export function windowAssets(
  report: Logger,
  load: () => Promise<Scripts> = loadWindow,
): (path: string) => StaticAsset | undefined {
  const bundled = new BundledAssets(report, load);
  const style = staticAsset("text/css; charset=utf-8", () => STYLES);
  return (path) => {
    if (path === STYLE) return style;
    const isBundled = path === PAGE || path.endsWith(".js");
    return isBundled ? (headers) => bundled.respond(path, headers) : undefined;
  };
}

/** The page and its scripts, which are made once. */
class BundledAssets {
  readonly #report: Logger;
  readonly #load: () => Promise<Scripts>;
  #assets: Promise<ReadonlyMap<string, StaticAsset>> | undefined;
  #isReported = false;

  constructor(report: Logger, load: () => Promise<Scripts>) {
    this.#report = report;
    this.#load = load;
  }

  /** Without the scripts, responds with 503, and the first failure is logged. */
  async respond(path: string, requestHeaders: RequestHeaders): Promise<HttpResponse> {
    let assets: ReadonlyMap<string, StaticAsset>;
    try {
      assets = await this.#made();
    } catch (error) {
      this.#reportOnce(error);
      return unavailable();
    }
    const asset = assets.get(path);
    if (asset === undefined) throw unknownPathError(PAGE);
    return await asset(requestHeaders);
  }

  /** After a failure, the next call tries again. */
  #made(): Promise<ReadonlyMap<string, StaticAsset>> {
    if (this.#assets === undefined) {
      this.#assets = this.#load().then(assetsOf);
      this.#assets.catch(() => this.#assets = undefined);
    }
    return this.#assets;
  }

  #reportOnce(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const remedy = `run ${commandName("bundle")} in the folder of the program, with a network`;
    this.#report("error", "window_unavailable", { reason: reasonOf(error), remedy });
  }
}

function assetsOf(scripts: Scripts): ReadonlyMap<string, StaticAsset> {
  const assets = new Map<string, StaticAsset>();
  assets.set(PAGE, staticAsset("text/html; charset=utf-8", () => pageOf(scripts), POLICY));
  for (const [name, text] of scripts) {
    assets.set(`${PAGE}/${name}`, staticAsset("text/javascript; charset=utf-8", () => text));
  }
  return assets;
}

/** The page names the scripts that its first one imports at once, so that the browser loads them side by side. */
function pageOf(scripts: Scripts): string {
  const imported = importedAtOnce(scripts).map((name) =>
    `<link rel="modulepreload" href="window/${name}">`
  );
  return TEXT
    .replace(FIRST_ELEMENT, () => `<script>${FIRST_SCRIPT}</script>`)
    .replace(ENTRY_ELEMENT, imported.join("") + ENTRY_ELEMENT);
}

function importedAtOnce(scripts: Scripts): string[] {
  const names = new Set([ENTRY]);
  // The set grows meanwhile. An import that waits until it is needed is a call.
  for (const name of names) {
    for (const [, imported] of scripts.get(name)?.matchAll(/(?<!\()"\.\/([\w-]+\.js)"/g) ?? []) {
      names.add(imported);
    }
  }
  names.delete(ENTRY);
  return [...names];
}

function unavailable(): HttpResponse {
  return {
    status: 503,
    headers: { ...NEVER_STORED, "x-content-type-options": "nosniff", "retry-after": "60" },
    contentHeaders: { "content-type": "text/plain; charset=utf-8" },
    body: UNAVAILABLE,
  };
}
