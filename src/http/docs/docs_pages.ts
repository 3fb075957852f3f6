/**
 * The API reference: Scalar at /docs, and a page for each guide. All files come from this service. They are
 * imported as text, which needs no permission to read files.
 */

import { STATUS_CODE } from "@std/http/status";
import { encodeHex } from "@std/encoding/hex";
import type { Runtime } from "../../runtime/runtime.ts";
import { HashedAssets, IMMUTABLE } from "../assets/hashed_assets.ts";
import { type HttpResponse, NEVER_STORED } from "../http_response.ts";
import { ASSET_HEADERS, StaticAsset, type StaticAssetOptions } from "../assets/static_asset.ts";
import { GUIDES } from "./guides.ts";
import { type BaseAddresses, describeInterface, sampleBase } from "./openapi.ts";
import { type OperationLink, pageLayout, type PageOptions } from "./page_layout.ts";

/** The files that the pages refer to as `docs/<name>`, with their media types. */
const FILES: [name: string, type: string, load: () => Promise<{ default: string }>][] = [
  ["color_mode.js", "text/javascript", () => import("./color_mode.js", { with: { type: "text" } })],
  ["docs_pages.css", "text/css", () => import("./docs_pages.css", { with: { type: "text" } })],
  ["icon.svg", "image/svg+xml", () => import("./icon.svg", { with: { type: "text" } })],
  ["reference.js", "text/javascript", () => import("./reference.js", { with: { type: "text" } })],
  ["scalar.js", "text/javascript", () => import(scalarBundle(), { with: { type: "text" } })],
];

/**
 * The bundle of Scalar, from its package for Fastify, because Scalar's own package depends on hundreds of others.
 * The package does not export the bundle, so it is found next to the entry point. With gzip, the pages of later
 * versions exceed 1 MiB. From 1.62.4 on, the bundle is not a file.
 */
function scalarBundle(): string {
  const entryPoint = import.meta.resolve("@scalar/fastify-api-reference");
  return new URL("./js/standalone.js", entryPoint).href;
}

const NONCE_BYTES = 16;

type Responder = (requestHeaders: Headers) => Promise<HttpResponse>;

export interface DocsPages {
  /** The page at /docs. */
  reference(): Promise<HttpResponse>;
  /** Finds the responder of a guide or a file; `undefined` if the path names none. */
  find(path: string): Responder | undefined;
  /** The address of the icon, relative to the root of the service. */
  iconAddress(): Promise<string>;
}

export function docsPages(addresses: BaseAddresses, runtime: Runtime): DocsPages {
  const files = new HashedAssets(
    "docs",
    new Map(FILES.map(([name, type, load]) => [
      name,
      textAsset({ type, cacheControl: IMMUTABLE }, async () => (await load()).default),
    ])),
  );
  let operations: OperationLink[] | undefined;
  const render = (options: Omit<PageOptions, "operations">) => {
    operations ??= operationsOf(JSON.parse(describeInterface(addresses)));
    return files.addHashes(pageLayout({ operations, ...options }));
  };
  const guides = new Map(GUIDES.map(({ name, title, content }) => [
    `/docs/${name}`,
    textAsset(
      {
        type: "text/html",
        cacheControl: "no-cache",
        headers: { "content-security-policy": policyOf(["script-src 'self'", "style-src 'self'"]) },
      },
      () =>
        render({
          title: `${title} – Animal Store API`,
          root: "../",
          guide: name,
          content: `<h1>${title}</h1>${content(sampleBase(addresses))}`,
        }),
    ),
  ]));
  return {
    async reference() {
      // A nonce must be used only once, so the page is not cached.
      const nonce = encodeHex(runtime.randomBytes(NONCE_BYTES));
      return {
        status: STATUS_CODE.OK,
        headers: {
          ...ASSET_HEADERS,
          ...NEVER_STORED,
          "content-security-policy": policyOf(referencePolicy(nonce, addresses)),
        },
        contentHeaders: { "content-type": "text/html; charset=utf-8" },
        body: await render({
          title: "Animal Store API",
          root: "",
          head: `
    <script src="docs/reference.js" nonce="${nonce}"></script>
    <script src="docs/scalar.js" defer></script>`,
          content: INTRODUCTION,
        }),
      };
    },
    find(path) {
      const guide = guides.get(path);
      return guide === undefined ? files.find(path) : (headers) => guide.respond(headers);
    },
    iconAddress: () => files.addressOf("icon.svg"),
  };
}

/** Shown while Scalar loads, and to readers without JavaScript. */
const INTRODUCTION = `<h1>Animal Store</h1>
<p>A catalogue of the animals offered in a store.</p>
<p>Every operation needs an API key: <code>Authorization: Bearer &lt;API_KEY&gt;</code>. All bodies are
JSON in UTF&#8209;8.</p>
<noscript><p>The operations need JavaScript. Without it, read the guides and
<a href="openapi.json">the OpenAPI description</a>.</p></noscript>`;

interface Description {
  paths: Record<string, Record<string, { tags: string[]; summary: string; deprecated?: boolean }>>;
}

/** The operations of the description, with the anchors that Scalar gives them. */
function operationsOf({ paths }: Description): OperationLink[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([key, { tags: [tag], summary, deprecated = false }]) => {
      const method = key.toUpperCase();
      const anchor = `tag/${tag.toLowerCase()}/${method}${path}`;
      return { method, summary, anchor, isDeprecated: deprecated };
    })
  );
}

/**
 * Allows only the service's own scripts, and only requests to the hosts of the interface. Scalar adds style
 * elements, which need the nonce, and style attributes, which differ with the content of the page.
 */
function referencePolicy(nonce: string, { production, staging }: BaseAddresses): string[] {
  const origins = [production, staging]
    .filter((address) => address !== undefined)
    .map((address) => ` ${new URL(address).origin}`);
  return [
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "style-src-attr 'unsafe-inline'",
    `connect-src 'self'${origins.join("")}`,
  ];
}

function policyOf(directives: string[]): string {
  return [
    "default-src 'none'",
    ...directives,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

function textAsset(
  { type, ...options }: Omit<StaticAssetOptions, "load">,
  load: () => Promise<string>,
): StaticAsset {
  return new StaticAsset({
    ...options,
    type: `${type}; charset=utf-8`,
    load: async () => new TextEncoder().encode(await load()),
  });
}
