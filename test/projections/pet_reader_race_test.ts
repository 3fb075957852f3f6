import { assert } from "@std/assert";
import { type PageQuery, PetReader } from "../../src/projections/pet_reader.ts";
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
        let store = faultyStore({} as never);
        await using service = await openTestService((it) => store = faultyStore(it));
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
