/**
 * The API reference page at /docs: Swagger UI, served from the files of its npm package, so the page loads
 * nothing from other hosts. The files are imported as text, which needs no permission to read files.
 */

import { HashedAssets, IMMUTABLE } from "../hashed_assets.ts";
import type { BaseAddresses } from "./openapi.ts";
import { StaticAsset } from "../static_asset.ts";

/** The files that the page refers to as `docs/<name>`, with their media types. */
const FILES: [name: string, type: string, load: () => Promise<{ default: string }>][] = [
  ["docs_page.css", "text/css", () => import("./docs_page.css", { with: { type: "text" } })],
  ["docs_page.js", "text/javascript", () => import("./docs_page.js", { with: { type: "text" } })],
  [
    "swagger-ui.css",
    "text/css",
    () => import("swagger-ui-dist/swagger-ui.css", { with: { type: "text" } }),
  ],
  [
    "swagger-ui.js",
    "text/javascript",
    () => import("swagger-ui-dist/swagger-ui-bundle.js", { with: { type: "text" } }),
  ],
];

/** The page at /docs and its files. All their addresses are relative, in case a proxy adds a path prefix. */
export function docsPage(addresses: BaseAddresses): { page: StaticAsset; files: HashedAssets } {
  const assets = FILES.map(([name, type, load]): [string, StaticAsset] => [
    name,
    new StaticAsset({
      type: `${type}; charset=utf-8`,
      cacheControl: IMMUTABLE,
      load: async () => new TextEncoder().encode((await load()).default),
    }),
  ]);
  const files = new HashedAssets("docs", new Map(assets));
  const page = new StaticAsset({
    type: "text/html; charset=utf-8",
    cacheControl: "no-cache",
    headers: { "content-security-policy": securityPolicy(addresses) },
    async load() {
      const html = await import("./docs_page.html", { with: { type: "text" } });
      return new TextEncoder().encode(await files.addHashes(html.default));
    },
  });
  return { page, files };
}

/** Allows only the page's own scripts, and only requests to the hosts of the interface. */
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
