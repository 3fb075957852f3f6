import { gunzipSync } from "node:zlib";
import { assert, assertEquals } from "@std/assert";
import { openTestService, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1 };
const STATUSES = ["available", "pending", "sold", undefined];

Deno.test("links begin with PUBLIC_URL, or else with the address that the client called; ETags depend on neither", async () => {
  const publicUrl = "https://shop.example/store/v1";
  await using own = await openTestService();
  await using published = await openTestService({ publicUrl });
  const tags = new Set<string | null>();
  const cases: [TestService, host: string, base: string][] = [
    [own, "localhost", "http://localhost/v1"],
    [own, "a.example:8000", "http://a.example:8000/v1"],
    [own, "[::1]:8000", "http://[::1]:8000/v1"],
    [published, "localhost", publicUrl],
    [published, "a.example:8000", publicUrl],
  ];
  for (const service of [own, published]) await addMany(service, 4);
  for (const [{ send, add }, host, base] of cases) {
    const headers = { host };
    const path = "/v1/pets?limit=2&cursor=4";
    const list = await send(path, { headers });
    const [etag, link] = [list.headers.get("etag")!, list.headers.get("link")];
    assertEquals(link, `<${base}/pets?limit=2&cursor=2>; rel="next"`);
    tags.add(etag);
    const unchanged = await send(path, { headers: { host, "if-none-match": etag } });
    assertEquals([unchanged.status, unchanged.headers.get("link")], [304, link]);
    for (const id of ["1", "9"]) {
      const pet = await send(`/v1/pets/${id}`, { headers });
      const successor = `<${base}/pets?status=available>; rel="successor-version"`;
      assertEquals(pet.headers.get("link"), successor);
    }
    const added = await add({ ...REX, status: "sold" }, { host });
    assertEquals(added.headers.get("location"), `${base}/pets/${(await added.json()).id}`);
  }
  assertEquals(tags.size, 1);
  // Without a change between them, these pages come from the caches.
  for (const [{ send }, host, base] of cases) {
    const { body, headers } = await send("/v1/pets?limit=1", { headers: { host } });
    await body?.cancel();
    assert(headers.get("link")!.startsWith(`<${base}/pets?`), host);
  }
});

Deno.test("a body in gzip says its encoding and its length, which clients hide in stories", async () => {
  await using service = await openTestService();
  await addMany(service, 100);
  for (let count = 0; count < 20; count++) await service.change(1, { categoryId: count });
  const ask = (path: string, accepted: string) =>
    service.send(path, { headers: { "accept-encoding": accepted } });
  for (const path of ["/v1/pets?limit=10", "/v1/pets/1", "/v1/events?limit=1"]) {
    assertEquals((await ask(path, "gzip")).headers.get("content-encoding"), null, path);
  }
  const paths = ["/v1/pets?limit=100", "/v1/pets?limit=50&status=sold", "/v1/pets/1/events"];
  for (const path of [...paths, "/v1/events"]) {
    const plain = await ask(path, "identity");
    const packed = await ask(path, "gzip");
    const bytes = new Uint8Array(await packed.arrayBuffer());
    assertEquals(gunzipSync(bytes).toString(), await plain.text());
    assertEquals(plain.headers.get("content-encoding"), null);
    assertEquals(packed.headers.get("content-encoding"), "gzip");
    assertEquals(packed.headers.get("content-length"), String(bytes.length));
    assertEquals(packed.headers.get("content-type"), plain.headers.get("content-type"));
    assert(bytes.length <= 1_000 || path.endsWith("/events"), `${bytes.length} bytes`);
  }
});

Deno.test("a list is compressed from 1,024 bytes on, whatever the number of its characters", async () => {
  await using service = await openTestService();
  const ofName = 1_023 - '[{"id":1,"name":"","categoryId":1}]'.length;
  await service.add(REX);
  for (const name of ["x".repeat(ofName), "é".repeat(ofName / 2)]) {
    for (const [more, encoding] of [["", null], ["x", "gzip"]]) {
      await service.change(1, { name: name + more });
      const headers = { "accept-encoding": "gzip" };
      const response = await service.send("/v1/pets", { headers });
      await response.body?.cancel();
      assertEquals(response.headers.get("content-encoding"), encoding);
    }
  }
});

/** Adds pets with each status in turn, and without one. */
async function addMany({ add }: TestService, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const response = await add({ ...REX, status: STATUSES[index % 4] });
    assertEquals(response.status, 201);
    await response.body?.cancel();
  }
}
