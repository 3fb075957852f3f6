import { assertEquals } from "@std/assert";
import { openTestService, type TestService } from "../support/test_service.ts";
import { testEachWay } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 1 };
const STATUSES = ["available", "pending", "sold", undefined];

Deno.test("links begin with PUBLIC_URL, or else with the address that the client called; ETags depend on neither", async () => {
  const production = "https://shop.example/store/v1";
  await using own = await openTestService();
  await using published = await openTestService(undefined, { addresses: { production } });
  const tags = new Set<string | null>();
  const cases: [TestService, host: string, base: string][] = [
    [own, "localhost", "http://localhost/v1"],
    [own, "a.example:8000", "http://a.example:8000/v1"],
    [own, "[::1]:8000", "http://[::1]:8000/v1"],
    [published, "localhost", production],
    [published, "a.example:8000", production],
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
});

testEachWay("the Link headers of listPets lead through all pets, newest first", async (service) => {
  await addMany(service, 47);
  const all = Array.from({ length: 47 }, (_, index) => 47 - index);
  for (const limit of [1, 7, 46, 47, 48, 100]) {
    assertEquals(await walk(service, `/v1/pets?limit=${limit}`), all);
  }
  for (const [index, status] of STATUSES.entries()) {
    if (status === undefined) continue;
    const withStatus = all.filter((id) => (id - 1) % 4 === index);
    for (const limit of [1, 5, 11, 12, 13]) {
      assertEquals(await walk(service, `/v1/pets?status=${status}&limit=${limit}`), withStatus);
    }
  }
});

testEachWay("listPets neither skips nor repeats a pet while pets are added", async (service) => {
  await addMany(service, 40);
  const addBetweenPages = () => addMany(service, 4);
  assertEquals(
    await walk(service, "/v1/pets?limit=7", addBetweenPages),
    Array.from({ length: 40 }, (_, index) => 40 - index),
  );
  const ofStatus = await walk(service, "/v1/pets?status=sold&limit=3", addBetweenPages);
  const count = ofStatus.length;
  assertEquals(ofStatus, Array.from({ length: count }, (_, index) => 4 * (count - index) - 1));
});

testEachWay("listPets neither skips nor repeats a pet while others change", async (service) => {
  await addMany(service, 40);
  // The pet of the cursor leaves the list, and one that was shown is renamed.
  const changePets = async (ids: number[]) => {
    const sold = await service.change(ids.at(-1)!, { status: "sold" });
    const renamed = await service.change(ids[0], { name: "Mia" });
    assertEquals([(await sold.json()).status, (await renamed.json()).name], ["sold", "Mia"]);
  };
  assertEquals(
    await walk(service, "/v1/pets?status=available&limit=3", changePets),
    Array.from({ length: 10 }, (_, index) => 37 - 4 * index),
  );
});

testEachWay("listPets accepts a cursor beyond either end of the catalogue", async (service) => {
  await addMany(service, 8);
  const idsOf = async (query: string) => (await page(service, `/v1/pets?${query}`)).ids;
  assertEquals(await idsOf("cursor=1"), []);
  assertEquals(await idsOf("cursor=9223372036854775807&limit=2"), [8, 7]);
  assertEquals(await idsOf("cursor=9999999999999999999&status=sold"), [7, 3]);
  assertEquals(await idsOf("cursor=3&status=sold"), []);
});

/** Adds pets with each status in turn, and without one. */
async function addMany({ add }: TestService, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const response = await add({ ...REX, status: STATUSES[index % 4] });
    assertEquals(response.status, 201);
    await response.body?.cancel();
  }
}

/** The ids of a page, and the target of its Link header without the origin. */
async function page(
  { send }: TestService,
  path: string,
): Promise<{ ids: number[]; next?: string }> {
  const response = await send(path);
  assertEquals(response.status, 200);
  const pets: { id: number }[] = await response.json();
  const link = response.headers.get("link");
  const next = link === null ? undefined : /^<([^>]+)>; rel="next"$/.exec(link)![1];
  return { ids: pets.map(({ id }) => id), next: next && pathOf(next) };
}

/** The path and the query of an absolute address. */
function pathOf(address: string): string {
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/** The ids on a page and all later pages. */
async function walk(
  service: TestService,
  path: string,
  betweenPages: (ids: number[]) => Promise<void> = async () => {},
): Promise<number[]> {
  const { ids, next } = await page(service, path);
  await betweenPages(ids);
  return next === undefined ? ids : [...ids, ...await walk(service, next, betweenPages)];
}
