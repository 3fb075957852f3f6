import { assert, assertEquals } from "@std/assert";
import { readEvents } from "../../src/log/read_log.ts";
import { type PageQuery, PetReader } from "../../src/projections/pet_reader.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { openTestService } from "../support/test_service.ts";

const QUERIES: PageQuery[] = [
  { limit: 20 },
  { limit: 20, cursor: 9 },
  { limit: 20, status: "sold" },
  { limit: 20, status: "sold", cursor: 9 },
];

Deno.test("list() returns the page of one head if pets are added and changed before each of its reads", async () => {
  for (const query of QUERIES) {
    for (const isWarm of [false, true]) {
      for (let before = 1, reads = 1; before <= reads; before++) {
        const store = faultyStore(new KvStore(await Deno.openKv(":memory:")));
        await using service = await openTestService(() => store);
        const path = `/v1/pets?${new URLSearchParams(query as never)}`;
        const pages: string[] = [];
        const notePage = async () => pages.push(await (await service.send(path)).text());
        const add = () => service.add({ name: "Rex", categoryId: 1, status: "sold" });
        const reader = new PetReader(store);
        await add();
        if (isWarm) await reader.list(query, await service.heads.read());
        await add();
        await notePage();
        const entry = await service.heads.read();
        reads = 0;
        store.onList = async (read) => {
          if (++reads === before) {
            const { onList } = store;
            store.onList = (read) => read();
            for (const write of [add, () => service.change(1, { status: "pending" })]) {
              await write();
              await notePage();
            }
            store.onList = onList;
          }
          return await read();
        };
        const { text } = await reader.list(query, entry);
        const at = JSON.stringify({ query, isWarm, before });
        assert(pages.includes(text), `${at}: ${text} is none of ${pages.join(" or ")}`);
      }
    }
  }
});

Deno.test("list() on an earlier head returns the page of one head after a pet was added and one changed in one commit", async () => {
  const store = faultyStore(new KvStore(await Deno.openKv(":memory:")));
  await using service = await openTestService(() => store);
  const reader = new PetReader(store);
  await service.add({ name: "Rex", categoryId: 1, status: "sold" });
  const entry = await service.heads.read();
  const pages = [(await reader.list({ limit: 20 }, entry)).text];
  const commits = store.commits.length;
  await Promise.all([
    service.change(1, { status: "pending" }),
    service.add({ name: "Tom", categoryId: 1 }),
  ]);
  assertEquals(store.commits.length, commits + 1);
  pages.push((await reader.list({ limit: 20 }, await service.heads.read())).text);
  assertEquals(pages[1].includes("Tom") && pages[1].includes("pending"), true);
  const { text } = await reader.list({ limit: 20 }, entry);
  assert(pages.includes(text), text);
});

Deno.test("get() returns a pet as it is now if the commit before its change is reported after it", async () => {
  const store = faultyStore(new KvStore(await Deno.openKv(":memory:")));
  await using service = await openTestService(() => store);
  const reader = new PetReader(store);
  const base = await service.heads.read();
  await service.add({ name: "Rex", categoryId: 1, status: "sold" });
  const { head: next } = await service.heads.read();
  await service.change(1, { status: "pending" });
  const entry = await service.heads.read();
  await reader.get(1, entry);
  const lines = (await readEvents(store, { from: next.position, to: next.position }))!;
  reader.onCommitted({ base, next, lines });
  assertEquals(JSON.parse((await reader.get(1, entry))!).status, "pending");
});
