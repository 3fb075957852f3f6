import { reasonOf } from "../runtime/logger.ts";
import type { ServiceConfig } from "../settings/config.ts";

export class ListenError extends Error {
  override name = "ListenError";

  constructor({ hostname, port }: Pick<ServiceConfig, "hostname" | "port">, cause: unknown) {
    const reason = (cause as { code?: string }).code === "EADDRINUSE"
      ? "the port is in use; set PORT to another"
      : reasonOf(cause);
    super(`Cannot listen on ${hostname}:${port} (HOST, PORT): ${reason}`);
  }
}
