import { assert, assertEquals } from "@std/assert";
import { hash } from "node:crypto";
import { windowAssets } from "../../src/http/window_page.ts";
import { loadWindow } from "this-runtime/page_scripts.ts";
import { openTestService, type TestService } from "../support/test_service.ts";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { run } from "../support/third_party_tools.ts";

/** What the bundler makes of a small page. */
const SCRIPTS = new Map([["main.js", "void 0;"]]);

/** The script is bundled. */
const test = testNeeding(permissions("env", "net", "read"));

test("the scripts of the window have only what browsers need", async () => {
  for (const [name, script] of await loadWindow()) {
    // The schemas of the events are for the service.
    assert(!/ZodError|\bDeno\b|node:/.test(script), name);
  }
});

test("the window is found by a path with encoded characters, too", async () => {
  await using service = await openTestService();
  for (const path of ["/%77indow", "/window/%6Dain%2Ejs"]) {
    assertEquals((await service.sendBare(path)).status, 200, path);
  }
});

test("the page of the window names the scripts that load at once, and the others load when they are needed", async () => {
  await using service = await openTestService();
  const scripts = await loadWindow();
  const named = await pathsOfPage(service);
  const later = [...scripts.keys()].filter((name) => !named.includes(`/window/${name}`));
  assertEquals(later.map((name) => name.replace(/-\w+\.js$/, "")).toSorted(), [
    "chunk",
    "import_dialog",
    "workbook_worker.js",
  ]);
  for (const name of later) {
    const path = `/window/${name}`;
    const { status, headers } = await service.sendBare(path, { method: "HEAD" });
    assertEquals([status, headers.get("content-type")], [200, "text/javascript; charset=utf-8"]);
  }
  const other = await service.sendBare("/window/import_dialog-OLDER.js");
  assertEquals(other.status, 404);
  await other.body?.cancel();
});

test("the policy of the window names its one inline script, and forbids others and everything from elsewhere", async () => {
  await using service = await openTestService();
  const page = await service.sendBare("/window");
  const text = await page.text();
  const [element, script] = /<script>([^<]+)<\/script>/.exec(text)!;
  assertEquals(
    page.headers.get("content-security-policy"),
    `default-src 'none'; script-src 'self' 'sha256-${hash("sha256", script, "base64")}'; ` +
      "style-src 'self'; connect-src 'self'; img-src 'self'; " +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  );
  assertEquals(page.headers.get("cross-origin-opener-policy"), "same-origin");
  const rest = text.replace(element, "");
  assert(!/<script(?![^>]* src=)|<style|\s(?:on\w+|style)=|https?:/.test(rest));
});

testNeeding(permissions("read", "write", "run"))(
  "the bundle for programs without a bundler has the scripts that the service makes",
  async () => {
    const { tasks } = JSON.parse(await Deno.readTextFile("deno.json"));
    const folder = await Deno.makeTempDir();
    const args = tasks.bundle.command.replace(".build/window", folder).split(" ").slice(1);
    const { code, output } = await run(Deno.execPath(), args);
    assertEquals(code, 0, output);
    const names = Array.from(Deno.readDirSync(folder), ({ name }) => name);
    assertEquals(names.toSorted(), [...(await loadWindow()).keys()].toSorted());
    await Deno.remove(folder, { recursive: true });
  },
);

Deno.test("the script is made once, when the page is first asked for", async () => {
  let loads = 0;
  const assets = windowAssets(() => {}, () => {
    loads++;
    return Promise.resolve(SCRIPTS);
  });
  assertEquals(loads, 0);
  for (const encoding of [null, "gzip", "br", "gzip"]) {
    for (const path of ["/window", "/window/main.js"]) {
      const { status } = await assets(path)!({ get: () => encoding });
      assertEquals(status, 200);
    }
  }
  assertEquals(loads, 1);
});

Deno.test("without its script, the window gets 503 in words, and the log has one line", async () => {
  const reports: unknown[][] = [];
  let isInstalled = false;
  const assets = windowAssets((...report) => reports.push(report), () => {
    return isInstalled ? Promise.resolve(SCRIPTS) : Promise.reject(new Error("No esbuild"));
  });
  const request = (path: string) => assets(path)!({ get: () => null });
  for (const path of ["/window", "/window", "/window/main.js"]) {
    const { status, headers, contentHeaders, body } = await request(path);
    assertEquals([status, headers?.["retry-after"]], [503, "60"]);
    assertEquals(contentHeaders, { "content-type": "text/plain; charset=utf-8" });
    assertEquals(
      body,
      "The window cannot be shown, because its script could not be made. The log of the service says why.\n",
    );
  }
  assertEquals((await request("/window/window.css")).status, 200);
  const remedy = "run deno task bundle in the folder of the program, with a network";
  assertEquals(reports, [["error", "window_unavailable", { reason: "No esbuild", remedy }]]);
  isInstalled = true;
  assertEquals((await request("/window")).status, 200);
});

/** The paths of the page and of the files that it names, without the reference, to which it only links. */
async function pathsOfPage(service: TestService): Promise<string[]> {
  const page = await (await service.sendBare("/window")).text();
  const names = page.matchAll(/<(?:link|script)[^>]* (?:src|href)="([^"]+)"/g);
  return ["/window", ...Array.from(names, ([, name]) => `/${name}`)];
}
