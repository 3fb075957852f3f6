import { VERSION } from "../../src/settings/version.ts";

/**
 * The variables of OpenTelemetry that a program gets besides those that are set. Deno reads them before it runs. The
 * tasks pass on `OTEL_DENO` by another name, because the launcher would wait for its own telemetry.
 */
export function telemetryVariables(
  module: string,
  set: Record<string, string>,
): Record<string, string> {
  const OTEL_DENO = set.LAUNCHED_OTEL_DENO ?? set.OTEL_DENO ?? "";
  if (!["true", "1"].includes(OTEL_DENO)) return {};
  const defaults: Record<string, string> = {
    // The service sends its lines itself, each with its severity. Those of a command are for its terminal.
    OTEL_DENO_CONSOLE: module === "src/main.ts" ? "replace" : "ignore",
  };
  const missing = Object.entries(defaults).filter(([name]) => !set[name]);
  // For Deno, the last of two values counts, and a name here replaces OTEL_SERVICE_NAME.
  const attributes = [
    `service.name=${set.OTEL_SERVICE_NAME || "animal-store"}`,
    `service.version=${VERSION}`,
    `service.instance.id=${crypto.randomUUID()}`,
    ...set.OTEL_RESOURCE_ATTRIBUTES ? [set.OTEL_RESOURCE_ATTRIBUTES] : [],
  ];
  const OTEL_RESOURCE_ATTRIBUTES = attributes.join(",");
  return { ...Object.fromEntries(missing), OTEL_DENO, OTEL_RESOURCE_ATTRIBUTES };
}
