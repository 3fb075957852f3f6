import { VERSION } from "../../src/settings/version.ts";

/**
 * The variables of OpenTelemetry that a program gets: Deno reads them before it runs. The tasks pass on `OTEL_DENO` by
 * another name, because the launcher would wait for its own telemetry.
 */
export function telemetryVariables(
  module: string,
  set: Record<string, string>,
): Record<string, string> {
  const OTEL_DENO = set.LAUNCHED_OTEL_DENO ?? set.OTEL_DENO ?? "";
  if (!["true", "1"].includes(OTEL_DENO)) return {};
  // The service sends its lines itself, each with its severity. Those of a command are for its terminal.
  const console = module === "src/main.ts" ? "replace" : "ignore";
  // For Deno, the last of two values counts, and a name here replaces OTEL_SERVICE_NAME.
  const attributes = [
    `service.name=${set.OTEL_SERVICE_NAME || "animal-store"}`,
    `service.version=${VERSION}`,
    `service.instance.id=${crypto.randomUUID()}`,
    ...set.OTEL_RESOURCE_ATTRIBUTES ? [set.OTEL_RESOURCE_ATTRIBUTES] : [],
  ];
  return {
    OTEL_DENO,
    OTEL_DENO_CONSOLE: set.OTEL_DENO_CONSOLE || console,
    OTEL_RESOURCE_ATTRIBUTES: attributes.join(","),
  };
}
