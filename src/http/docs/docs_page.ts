/** The reference at /docs, by Scalar, and the window. Their files are imported as text, which needs no permission. */

import { type StaticAsset, staticAsset } from "./static_asset.ts";
import { type BaseAddresses, describeInterface, EXAMPLE_BASE } from "./openapi.ts";
import WINDOW from "../window/window.html" with { type: "text" };

const UTF_8 = "charset=utf-8";

type DocsAsset = (requestHeaders: Headers, baseUrl: string) => ReturnType<StaticAsset>;

/** The pages, their files and the description, each by its path. A proxy may add a path prefix. */
export function docsAssets(addresses: BaseAddresses): ReadonlyMap<string, DocsAsset> {
  let text: string | undefined;
  const describedAt = (baseUrl: string) =>
    staticAsset(
      "application/json",
      () => (text ??= describeInterface(addresses)).replaceAll(EXAMPLE_BASE, baseUrl),
    );
  let first: { baseUrl: string; description: StaticAsset } | undefined;
  return new Map<string, DocsAsset>([
    ["/openapi.json", (requestHeaders, baseUrl) => {
      first ??= { baseUrl, description: describedAt(baseUrl) };
      if (baseUrl === first.baseUrl) return first.description(requestHeaders);
      // Without PUBLIC_URL, a client may call any number of addresses, so these are neither kept nor compressed.
      return describedAt(baseUrl)(new Headers());
    }],
    ["/docs", staticAsset(`text/html; ${UTF_8}`, () => PAGE, policyOfDocs(addresses))],
    ["/window", staticAsset(`text/html; ${UTF_8}`, () => WINDOW, policy("'self'", "'self'"))],
    ...FILES.map(([name, type, load]): [string, StaticAsset] => [
      `/${name}`,
      staticAsset(`${type}; ${UTF_8}`, async () => (await load()).default),
    ]),
  ]);
}

const PAGE = `<!DOCTYPE html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Animal Store API</title>
    <link rel="icon" href="docs/icon.svg" type="image/svg+xml">
    <script src="docs/reference.js"></script>
    <script src="docs/scalar.js" defer></script>
  </head>
  <body>
    <noscript>
      This page needs JavaScript. Without it, read <a href="openapi.json">the description</a>.
    </noscript>
    <div id="reference"></div>
  </body>
</html>
`;

const SCRIPT = "text/javascript";

const FILES: [name: string, type: string, load: () => Promise<{ default: string }>][] = [
  ["docs/icon.svg", "image/svg+xml", () => import("./icon.svg", { with: { type: "text" } })],
  ["docs/reference.js", SCRIPT, () => import("./reference.js", { with: { type: "text" } })],
  ["docs/scalar.js", SCRIPT, () => import(scalarBundle(), { with: { type: "text" } })],
  [
    "window/window.css",
    "text/css",
    () => import("../window/window.css", { with: { type: "text" } }),
  ],
  ["window/main.js", SCRIPT, () => import("../window/main.js", { with: { type: "text" } })],
  ["window/store.js", SCRIPT, () => import("../window/store.js", { with: { type: "text" } })],
  ["window/htm_preact.js", SCRIPT, () => import(htmBundle(), { with: { type: "text" } })],
];

/** The bundle of `htm`, `preact` and its hooks, which defines `htmPreact`. */
function htmBundle(): string {
  return new URL("../preact/standalone.umd.js", import.meta.resolve("htm")).href;
}

/**
 * The bundle of Scalar, which its package for Fastify does not export. Scalar's own package depends on hundreds of
 * others. With gzip, the pages of later versions exceed 1 MiB. From 1.62.4 on, the bundle is not a file.
 */
function scalarBundle(): string {
  const entryPoint = import.meta.resolve("@scalar/fastify-api-reference");
  return new URL("./js/standalone.js", entryPoint).href;
}

/** Requests to the hosts of the interface. Scalar adds styles of its own. */
function policyOfDocs({ publicUrl, stagingUrl }: BaseAddresses) {
  const hosts = [publicUrl, stagingUrl].map((url) =>
    url === undefined ? "" : ` ${new URL(url).origin}`
  );
  return policy("'unsafe-inline'", `'self'${hosts.join("")}`);
}

/** Only own scripts, and these styles and requests. */
function policy(styles: string, requests: string) {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    `connect-src ${requests}`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { "content-security-policy": policy.join("; ") };
}
