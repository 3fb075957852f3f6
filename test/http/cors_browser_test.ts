import { assertEquals } from "@std/assert";
import { createService } from "../../src/service.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { openTestService } from "../support/test_service.ts";
import { serveOnSocket } from "../support/test_each_way.ts";

const chromium = chromiumPath();

/** A page of another origin than the service's, which calls the service. */
function serveSite() {
  const html = { "content-type": "text/html" };
  const handler = () => Promise.resolve(new Response("<title>Shop</title>", { headers: html }));
  return serveOnSocket({ handler });
}

Deno.test({
  name:
    "a script of a configured origin adds, retries and polls in a real browser, and no other script does" +
    (chromium === undefined ? " (ignored: no chromium that may be run)" : ""),
  ignore: chromium === undefined,
  async fn() {
    await using shop = serveSite();
    await using stranger = serveSite();
    await using service = await openTestService();
    const { store, runtime, token } = service;
    const corsOrigins = [`http://127.0.0.1:${shop.port}`];
    const shared = createService({ store, runtime, report: () => {}, corsOrigins });
    await using server = serveOnSocket(shared);
    await using browser = await launchChromium(chromium);
    const callFrom = async (port: number) => {
      const page = await browser.newPage();
      await page.goto(`http://127.0.0.1:${port}/`);
      return await page.evaluate(callApi, {
        pets: `http://127.0.0.1:${server.port}/v1/pets`,
        token,
      });
    };

    assertEquals(await callFrom(stranger.port), "TypeError");
    assertEquals((await shared.heads.fresh()).head.lastPetId, 0, "the preflight was refused");
    const location = `http://127.0.0.1:${server.port}/v1/pets/1`;
    const pet = { id: 1, ...REX };
    const missing = { code: "missing_credentials", message: MISSING_KEY, status: 401 };
    assertEquals(await callFrom(shop.port), [
      [201, location, null, pet],
      [201, location, "true", pet],
      [200, [pet]],
      [304],
      [200, { ...pet, status: "sold" }],
      [412, "precondition_failed"],
      [401, "Bearer", missing],
    ]);
  },
});

const REX = { name: "Rex", categoryId: 7 };
const MISSING_KEY = "An API key is required: Authorization: Bearer <API_KEY>";

/** Runs in the page, and returns the parts of the responses that a script can read. */
async function callApi({ pets, token }: { pets: string; token: string }) {
  const authorization = `Bearer ${token}`;
  const call = async (
    url: string,
    headers: Record<string, string>,
    method?: string,
    body?: string,
  ) => {
    const answer = await fetch(url, { method, headers, body, cache: "no-store" });
    const { status } = answer;
    const names = ["etag", "location", "idempotency-replayed", "www-authenticate"];
    const shown = names.map((name) => answer.headers.get(name));
    return { status, shown, body: status === 304 ? null : await answer.json() };
  };
  const json = { authorization, "content-type": "application/json" };
  const merge = { authorization, "content-type": "application/merge-patch+json" };
  try {
    const rex = '{"name":"Rex","categoryId":7}';
    const add = () => call(pets, { ...json, "idempotency-key": "a" }, "POST", rex);
    const added = [await add(), await add()];
    const list = await call(pets, { authorization });
    const unchanged = await call(pets, { authorization, "if-none-match": list.shown[0]! });
    const { shown: [etag] } = await call(`${pets}/1`, { authorization });
    const change = () =>
      call(`${pets}/1`, { ...merge, "if-match": etag! }, "PATCH", '{"status":"sold"}');
    const [changed, late, keyless] = [await change(), await change(), await call(pets, {})];
    return [
      ...added.map(({ status, shown, body }) => [status, shown[1], shown[2], body]),
      [list.status, list.body],
      [unchanged.status],
      [changed.status, changed.body],
      [late.status, late.body.code],
      [keyless.status, keyless.shown[3], keyless.body],
    ];
  } catch (error) {
    return (error as Error).name;
  }
}
