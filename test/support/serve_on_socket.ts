import { systemRuntime } from "eventstore-less/startup";
import { Server } from "../../src/server/server.ts";
import type { Service } from "../../src/service.ts";

/** Serves on a free port of this machine until disposed of. */
export async function serveOnSocket({ handler }: Pick<Service, "handler">) {
  const common = { hostname: "127.0.0.1", port: 0, runtime: systemRuntime, report() {} };
  const server = await Server.listen({ ...common, handler });
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}
