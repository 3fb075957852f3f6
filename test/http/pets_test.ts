import { assertEquals, assertNotEquals, assertStringIncludes } from "@std/assert";
import { openTestService, type TestService } from "../support/test_service.ts";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 1 };
const STATUSES = ["available", "pending", "sold", undefined];

testEachWay("createPet returns the address of the pet in Location", async ({ add, send }) => {
  for (const id of [1, 2]) {
    const response = await add(REX);
    const location = response.headers.get("location")!;
    assertEquals(new URL(location).pathname, `/v1/pets/${id}`);
    assertEquals(await (await send(pathOf(location))).text(), await response.text());
  }
});

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
    assertEquals(list.headers.get("link"), `<${base}/pets?limit=2&cursor=2>; rel="next"`);
    tags.add(list.headers.get("etag"));
    const init = { headers: { host, "if-none-match": list.headers.get("etag")! } };
    const unchanged = await send(path, init);
    assertEquals(unchanged.status, 304);
    assertEquals(unchanged.headers.get("link"), list.headers.get("link"));
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

testEachWay("createPet refuses query parameters", async (service) => {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(REX) };
  await assertRefused(service, () => service.send("/v1/pets?limit=1", init), {
    status: 400,
    code: "invalid_parameter",
    message: /^Query parameter "limit" is not known: this operation takes none$/,
  });
});

testEachWay("getPet refuses query parameters", async (service) => {
  await service.add(REX);
  await assertRefused(service, () => service.send("/v1/pets/1?status=sold"), {
    status: 400,
    code: "invalid_parameter",
    message: /^Query parameter "status" is not known: this operation takes none$/,
  });
});

testEachWay(
  "getPet returns 404 for an id that is not an int64 in plain decimal",
  async (service) => {
    await service.add(REX);
    const ids = ["x", "1.0", "1e0", "01", "+1", "-0", "0x1", "%31", "1%20", "%00", "%FF", "1;a=b"];
    ids.push("9223372036854775808", "-9223372036854775809", "9".repeat(1_000), "NaN", "Infinity");
    for (const id of ids) {
      await assertRefused(service, () => service.send(`/v1/pets/${id}`), {
        status: 404,
        code: "pet_not_found",
      });
    }
  },
);

testEachWay("listPets returns the newest pet first", async (service) => {
  await addMany(service, 5);
  assertEquals((await page(service, "/v1/pets")).ids, [5, 4, 3, 2, 1]);
  assertEquals((await page(service, "/v1/pets?limit=2")).ids, [5, 4]);
});

testEachWay("listPets returns a new pet in the next request", async (service) => {
  for (let id = 1; id <= 10; id++) {
    await addMany(service, 1);
    assertEquals((await page(service, "/v1/pets?limit=1")).ids, [id]);
  }
});

testEachWay("the Link headers of listPets lead through the whole catalogue", async (service) => {
  await addMany(service, 47);
  const all = Array.from({ length: 47 }, (_, index) => 47 - index);
  for (const limit of [1, 7, 46, 47, 48, 100]) {
    assertEquals(await walk(service, `/v1/pets?limit=${limit}`), all);
  }
  assertEquals(await walk(service, "/v1/pets"), all);
});

testEachWay("the Link headers of listPets lead through all pets of a status", async (service) => {
  await addMany(service, 48);
  for (const [index, status] of STATUSES.slice(0, 3).entries()) {
    const all = Array.from({ length: 12 }, (_, round) => 44 - 4 * round + index + 1);
    for (const limit of [1, 5, 11, 12, 13]) {
      assertEquals(await walk(service, `/v1/pets?status=${status}&limit=${limit}`), all);
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

testEachWay("the last page of listPets has no link to a next page", async (service) => {
  assertEquals((await page(service, "/v1/pets")).next, undefined);
  await addMany(service, 20);
  assertEquals((await page(service, "/v1/pets")).next, undefined);
  assertEquals((await page(service, "/v1/pets?limit=20")).next, undefined);
  assertEquals((await page(service, "/v1/pets?status=sold&limit=5")).next, undefined);
  assertNotEquals((await page(service, "/v1/pets?status=sold&limit=4")).next, undefined);
});

testEachWay("listPets keeps limit and status in the link to the next page", async (service) => {
  await addMany(service, 20);
  const { next } = await page(service, "/v1/pets?status=sold&limit=2");
  assertStringIncludes(next!, "status=sold");
  assertStringIncludes(next!, "limit=2");
});

testEachWay(
  "listPets accepts a cursor beyond either end of the catalogue",
  async (service) => {
    await addMany(service, 8);
    assertEquals((await page(service, "/v1/pets?cursor=1")).ids, []);
    assertEquals((await page(service, "/v1/pets?cursor=9223372036854775807&limit=2")).ids, [8, 7]);
    assertEquals((await page(service, "/v1/pets?cursor=9999999999999999999&status=sold")).ids, [
      7,
      3,
    ]);
    assertEquals((await page(service, "/v1/pets?cursor=3&status=sold")).ids, []);
  },
);

/** Adds pets with each status in turn, and without one. */
async function addMany({ add }: TestService, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    const response = await add({ ...REX, status: STATUSES[index % 4] });
    assertEquals(response.status, 201);
    await response.body?.cancel();
  }
}

interface SeenPage {
  ids: number[];
  /** The target of the Link header, without its origin. */
  next?: string;
}

async function page({ send }: TestService, path: string): Promise<SeenPage> {
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
  betweenPages: () => Promise<void> = async () => {},
): Promise<number[]> {
  const ids: number[] = [];
  for (let next: string | undefined = path; next !== undefined;) {
    const seen: SeenPage = await page(service, next);
    ids.push(...seen.ids);
    next = seen.next;
    await betweenPages();
  }
  return ids;
}
