import { assertEquals } from "@std/assert";
import { freePort } from "../support/free_port.ts";
import { expectTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { DENOKV, DenokvServer } from "../support/denokv_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";

const test = testNeeding(DENOKV.need);

test("with the variables of Deno Deploy, the service uses their address and the attached database", async () => {
  await using server = await DenokvServer.start();
  const { env } = server;
  const options = { kvPath: server.address, env };
  const token = (await expectTask(["keys", "issue", "--label", "first"], options)).trim();
  const port = freePort();
  await using service = await ServiceProcess.start("", {
    ...env,
    DENO_DEPLOYMENT_ID: "test",
    DENO_KV_DEFAULT_PATH: server.address,
    DENO_SERVE_ADDRESS: `tcp:127.0.0.1:${port}`,
    PORT: "1",
  });
  assertEquals(service.address, `http://127.0.0.1:${port}`);
  assertEquals((await service.send("/readyz", "")).status, 200);
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  server.pause();
  const hanging = service.add({ name: "Max", categoryId: 1 }, token);
  const isHanging = async () => assertEquals((await service.send("/readyz", "")).status, 503);
  await until(isHanging, "The service does not notice that the store hangs");
  assertEquals(await service.stop("SIGINT"), 0);
  assertEquals(await hanging, 503);
  server.resume();
  const line = await expectTask(["log", "--type", "PetCreated", "--to", "2"], options);
  assertEquals(JSON.parse(line).data.name, "Rex");
});
