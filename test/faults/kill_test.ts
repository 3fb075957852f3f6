import { assertGreater } from "@std/assert";
import { LoadClient } from "../support/load_client.ts";
import { permitted } from "../support/permitted.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { killRounds } from "./kill_rounds.ts";

const ignore = !permitted("env", "net", "read", "run", "write");

Deno.test({
  name: "acknowledged pets are stored once after kill -9 of a service under load",
  ignore,
  async fn() {
    await using temp = await TempStore.make();
    const token = await temp.issueKey();
    const services: ServiceProcess[] = [];
    const load = new LoadClient({
      services: () => services,
      token,
      connections: 64,
      faults: "process",
    });
    for (let life = 1; life <= 2; life++) {
      await using service = await ServiceProcess.start(temp.kvPath);
      services[0] = service;
      const enough = load.acknowledged.size + 300;
      let killed: Promise<number> | undefined;
      await load.run(() => {
        if (load.acknowledged.size >= enough) killed ??= service.stop("SIGKILL");
        return killed !== undefined;
      });
      await killed;
    }
    await using service = await ServiceProcess.start(temp.kvPath);
    services[0] = service;
    const { begun } = load;
    await load.run(() => load.begun > begun);
    await load.expectServed(service);
    await temp.use((operator) => load.expectLogged(operator));
  },
});

Deno.test({
  name:
    "acknowledged pets are stored once after kill -9 of services and commands at random moments",
  ignore,
  async fn() {
    const { load } = await killRounds(6);
    assertGreater(load.acknowledged.size, 0);
  },
});
