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
  const isNamed = /(^|,)\s*service\.name=/.test(set.OTEL_RESOURCE_ATTRIBUTES ?? "");
  if (!isNamed) defaults.OTEL_SERVICE_NAME = "animal-store";
  const missing = Object.entries(defaults).filter(([name]) => !set[name]);
  return { ...Object.fromEntries(missing), OTEL_DENO };
}
