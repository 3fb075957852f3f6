/** The reference at /docs, by Scalar. Its files are imported as text, which needs no permission. */

import { BoundedCache } from "eventstore-less/parts";
import { type StaticAsset, staticAsset } from "./static_asset.ts";
import { EXAMPLE_BASE } from "../../api/base_path.ts";
import { type BaseAddresses, type DescribedInterface, describeInterface } from "./openapi.ts";
import { pagePolicy } from "./page_policy.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";
import { loadScalar } from "this-runtime/page_scripts.ts";
import ICON from "./icon.svg" with { type: "text" };
import REFERENCE from "./reference.js" with { type: "text" };

const UTF_8 = "charset=utf-8";

/** Number of addresses, besides the first one, whose descriptions are kept. */
const OTHER_ADDRESSES = 8;

/** The description names the address that the client called. */
export type DocsAsset = (
  requestHeaders: RequestHeaders,
  baseUrl: string,
) => ReturnType<StaticAsset>;

/** The page, its files and the description, each by its path. A proxy may add a path prefix. */
export function docsAssets(described: DescribedInterface): ReadonlyMap<string, DocsAsset> {
  const assets = new Map<string, DocsAsset>();
  assets.set("/openapi.json", descriptionAsset(described));
  assets.set("/docs", staticAsset(`text/html; ${UTF_8}`, () => PAGE, policyOfDocs(described)));
  for (const [name, type, load] of FILES) {
    assets.set(`/docs/${name}`, staticAsset(`${type}; ${UTF_8}`, load));
  }
  return assets;
}

function descriptionAsset(described: DescribedInterface): DocsAsset {
  let text: string | undefined;
  const describe = () => {
    text ??= describeInterface(described);
    return text;
  };
  const describedAt = (baseUrl: string) =>
    staticAsset("application/json", () => describe().replaceAll(EXAMPLE_BASE, baseUrl));
  let first: { baseUrl: string; description: StaticAsset } | undefined;
  const others = new BoundedCache<StaticAsset>(OTHER_ADDRESSES);
  return (requestHeaders, baseUrl) => {
    first ??= { baseUrl, description: describedAt(baseUrl) };
    if (baseUrl === first.baseUrl) return first.description(requestHeaders);
    const other = others.get(baseUrl) ?? describedAt(baseUrl);
    // The address that was asked last is kept longest.
    others.set(baseUrl, other);
    // Without PUBLIC_URL, a client may call any number of addresses, so these are not compressed.
    return other({ get: () => null });
  };
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

const FILES: [name: string, type: string, load: () => string | Promise<string>][] = [
  ["icon.svg", "image/svg+xml", () => ICON],
  ["reference.js", SCRIPT, () => REFERENCE],
  ["scalar.js", SCRIPT, loadScalar],
];

/** Allows requests to the hosts of the interface. Scalar adds styles of its own. */
function policyOfDocs({ publicUrl, stagingUrl }: BaseAddresses) {
  const requests = ["'self'"];
  for (const url of [publicUrl, stagingUrl]) {
    if (url !== undefined) requests.push(new URL(url).origin);
  }
  return pagePolicy({ scripts: "'self'", styles: "'unsafe-inline'", requests: requests.join(" ") });
}
