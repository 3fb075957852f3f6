/** The page at /window: a program for the browser that uses only the public interface. */

import { type StaticAsset, staticAsset } from "../docs/static_asset.ts";

const UTF_8 = "charset=utf-8";

/** The page and its files, each by its path. They are imported as text, as those of the reference. */
export function windowAssets(): ReadonlyMap<string, StaticAsset> {
  return new Map(FILES.map(([path, type, load]) => {
    const headers: Record<string, string> = type === "text/html"
      ? { "content-security-policy": POLICY }
      : {};
    return [path, staticAsset(`${type}; ${UTF_8}`, async () => (await load()).default, headers)];
  }));
}

/** Only own files and requests to this service. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const SCRIPT = "text/javascript";

const FILES: [path: string, type: string, load: () => Promise<{ default: string }>][] = [
  ["/window", "text/html", () => import("./window.html", { with: { type: "text" } })],
  ["/window/window.css", "text/css", () => import("./window.css", { with: { type: "text" } })],
  ["/window/main.js", SCRIPT, () => import("./main.js", { with: { type: "text" } })],
  ["/window/catalogue.js", SCRIPT, () => import("./catalogue.js", { with: { type: "text" } })],
  ["/window/client.js", SCRIPT, () => import("./client.js", { with: { type: "text" } })],
  ["/window/htm_preact.js", SCRIPT, () => import(htmBundle(), { with: { type: "text" } })],
];

/** The bundle of `htm`, `preact` and its hooks, which defines the global `htmPreact`. */
function htmBundle(): string {
  return new URL("../preact/standalone.umd.js", import.meta.resolve("htm")).href;
}
