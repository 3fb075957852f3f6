import { assert, assertEquals } from "@std/assert";
import { POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";
import { expectTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";

const test = testNeeding(POSTGRES.need);

const server = serverOfFile();

test("the spans of the store name PostgreSQL, and contain no secret", async () => {
  let received = "";
  const collector = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (sent) => {
      const text = await sent.text();
      received += text;
      return Response.json({});
    },
  );
  const kvPath = server().url(await server().createDatabase());
  const token = (await expectTask(["keys", "issue", "--label", "first"], { kvPath })).trim();
  await using service = await ServiceProcess.start(kvPath, {
    OTEL_DENO: "true",
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
  });
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  assertEquals(await service.stop(), 0);
  await collector.shutdown();
  const systems = received.matchAll(
    /"db\.system\.name",\s*"value":\s*\{\s*"stringValue":\s*"([^"]+)"/g,
  );
  assertEquals([...new Set([...systems].map(([, system]) => system))], ["postgresql"]);
  assert(!received.includes(server().secret), "the password is sent");
});
