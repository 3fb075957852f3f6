import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { testStoreContract } from "../support/store_contract.ts";
import { denokvProgram, DenokvServer } from "../support/denokv_server.ts";

testStoreContract({
  name: "KvStore on denokv",
  ignore: denokvProgram() === undefined,
  async open() {
    const server = await DenokvServer.start();
    Deno.env.set("DENO_KV_ACCESS_TOKEN", server.token);
    const store = new KvStore(await Deno.openKv(server.address));
    return { store, dispose: () => server[Symbol.asyncDispose]() };
  },
});
