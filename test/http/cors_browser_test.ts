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
    assertEquals(await callFrom(shop.port), [
      [201, null, location],
      [201, "true", location],
      [200, null, null],
      [304, null, null],
      [200, null, null],
      [412, null, null],
      [401, null, null],
      "missing_credentials",
    ]);
  },
});

/** Runs in the page, and returns the parts of the responses that a script can read. */
async function callApi({ pets, token }: { pets: string; token: string }) {
  const shown: unknown[] = [];
  const call = async (
    url: string,
    headers: Record<string, string>,
    method?: string,
    body?: string,
  ) => {
    const answer = await fetch(url, { method, headers, body, cache: "no-store" });
    const names = ["idempotency-replayed", "location"];
    shown.push([answer.status, ...names.map((name) => answer.headers.get(name))]);
    return answer;
  };
  const authorization = `Bearer ${token}`;
  const json = { authorization, "content-type": "application/json" };
  const merge = { authorization, "content-type": "application/merge-patch+json" };
  const tagOf = ({ headers }: Response) => headers.get("etag")!;
  try {
    const add = () =>
      call(pets, { ...json, "idempotency-key": "a" }, "POST", '{"name":"Rex","categoryId":7}');
    const etag = tagOf(await add());
    await add();
    const list = await call(pets, { authorization });
    await call(pets, { authorization, "if-none-match": tagOf(list) });
    const change = () =>
      call(`${pets}/1`, { ...merge, "if-match": etag }, "PATCH", '{"status":"sold"}');
    await change();
    await change();
    const { code } = await (await call(pets, {})).json();
    return [...shown, code];
  } catch (error) {
    return (error as Error).name;
  }
}
