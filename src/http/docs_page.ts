/**
 * The API reference page at /docs: Swagger UI, from the files of its npm package, so that nothing is
 * fetched from anywhere else.
 */

import { HashedAssets, IMMUTABLE } from "./hashed_assets.ts";
import type { BaseAddresses } from "./openapi.ts";
import { StaticAsset } from "./static_asset.ts";

const OWN = new URL(".", import.meta.url);

/** The files that the page names as `docs/<name>`, with their media types. */
const FILES: [name: string, type: string, read: () => Promise<Uint8Array>][] = [
  ["docs_page.css", "text/css", () => Deno.readFile(new URL("docs_page.css", OWN))],
  ["docs_page.js", "text/javascript", () => Deno.readFile(new URL("docs_page.js", OWN))],
  ["swagger-ui.css", "text/css", () => readPackaged("swagger-ui.css")],
  ["swagger-ui.js", "text/javascript", () => readPackaged("swagger-ui-bundle.js")],
];

/** The page at /docs and its files. All their addresses are relative, for a proxy that adds to the path. */
export function docsPage(addresses: BaseAddresses): { page: StaticAsset; files: HashedAssets } {
  const assets = FILES.map(([name, type, load]): [string, StaticAsset] => [
    name,
    new StaticAsset({ type: `${type}; charset=utf-8`, cacheControl: IMMUTABLE, load }),
  ]);
  const files = new HashedAssets("docs", new Map(assets));
  const page = new StaticAsset({
    type: "text/html; charset=utf-8",
    cacheControl: "no-cache",
    headers: { "content-security-policy": securityPolicy(addresses) },
    async load() {
      const html = await Deno.readTextFile(new URL("docs_page.html", OWN));
      return new TextEncoder().encode(await files.addHashes(html));
    },
  });
  return { page, files };
}

/** The page runs no script but its own, and sends requests to no host but those of the interface. */
function securityPolicy({ production, staging }: BaseAddresses): string {
  const origins = [production, staging]
    .filter((address) => address !== undefined)
    .map((address) => ` ${new URL(address).origin}`);
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data:",
    `connect-src 'self'${origins.join("")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

async function readPackaged(name: string): Promise<Uint8Array> {
  // The package says itself where it lies; the import loads no more than that.
  const { default: directory } = await import("swagger-ui-dist/absolute-path.js");
  return await Deno.readFile(`${directory()}/${name}`);
}
