import { assertEquals, assertGreater } from "@std/assert";
import { LoadClient } from "../support/load_client.ts";
import { test } from "../support/test_processes.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";

const CREATES = 300;

test("createPet adds one pet per Idempotency-Key despite timeouts, doubled requests and a kill", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueKey();
  let service = await ServiceProcess.start(temp.kvPath);
  const load = new LoadClient({
    services: () => [service],
    token,
    connections: 64,
    faults: "process",
    giveUpMs: 60,
  });
  const restart = async () => {
    await service.stop("SIGKILL");
    service = await ServiceProcess.start(temp.kvPath);
  };
  let restarting: Promise<void> | undefined;
  try {
    await load.run(() => {
      if (load.begun >= CREATES / 2) restarting ??= restart();
      return load.begun >= CREATES;
    });
    await restarting;
    assertEquals(load.acknowledged.size, CREATES);
    await load.expectServed(service);
    await temp.use((operator) => load.expectLogged(operator));
    assertEquals(service.lines.filter((line) => line.includes('"level":"error"')), []);
    // A repeated response shows that a client gave up on a request that had added its pet.
    for (const outcome of ["gave up", "repeated"]) assertGreater(load.outcomes[outcome] ?? 0, 0);
  } finally {
    await service.stop("SIGKILL");
  }
});
