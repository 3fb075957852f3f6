import { fillStore } from "../support/fill_store.ts";
import { ServiceProcess } from "../support/service_process.ts";

/** A service on its own store with that many pets, with a valid key and a temporary folder. */
export async function startLiveService(pets: number) {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/pets.sqlite3`;
  const token = await fillStore(kvPath, pets);
  const process = await ServiceProcess.start(kvPath);
  return {
    address: process.address,
    /** The address of the interface. */
    baseUrl: `${process.address}/v1`,
    folder,
    token,
    async [Symbol.asyncDispose]() {
      await process.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
