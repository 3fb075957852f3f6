import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { HttpError } from "../../../src/http/errors.ts";
import { HashedAssets } from "../../../src/http/assets/hashed_assets.ts";
import { StaticAsset } from "../../../src/http/assets/static_asset.ts";

Deno.test("HashedAssets finds an asset only at the address in the HTML", async () => {
  const { files, page } = await folderOf("body {}");
  const [, address] = /href="([^"]+)"/.exec(page)!;
  assertMatch(address, /^docs\/page\.min\.[0-9a-f]{16}\.css$/);
  const { status, body } = await files.find(`/${address}`)!(new Headers());
  assertEquals([status, new TextDecoder().decode(body as Uint8Array)], [200, "body {}"]);

  const paths = ["/docs/page.min.css", `/${address}.css`, `/v1/${address}`, `/docs/${address}`];
  paths.push("/docs/", "/docs", `/${address.replace("page", "other")}`, `/${address}/`);
  for (const path of paths) assertEquals(files.find(path), undefined, path);
  const another = `/${address.replace(/[0-9a-f]{16}/, "0123456789abcdef")}`;
  const refusal = await assertRejects(() => files.find(another)!(new Headers()), HttpError);
  assertEquals(refusal.code, "not_found");
});

Deno.test("HashedAssets changes an address if and only if the content changes", async () => {
  const { page } = await folderOf("body {}");
  assertEquals((await folderOf("body {}")).page, page);
  assertNotEquals((await folderOf("main {}")).page, page);
});

async function folderOf(css: string) {
  const asset = new StaticAsset({
    type: "text/css",
    cacheControl: "no-cache",
    load: () => Promise.resolve(new TextEncoder().encode(css)),
  });
  const files = new HashedAssets("docs", new Map([["page.min.css", asset]]));
  return { files, page: await files.addHashes('<link href="docs/page.min.css">') };
}
