/**
 * The variables of OpenTelemetry that a program gets in addition, because Deno reads them before the program
 * runs. Those that the operator has set stay.
 */
export function telemetryVariables(
  module: string,
  set: Record<string, string>,
): Record<string, string> {
  if (!["true", "1"].includes(set.OTEL_DENO ?? "")) return {};
  const defaults: Record<string, string> = {
    // The service sends its lines itself, each with its severity. Those of a command are for its terminal.
    OTEL_DENO_CONSOLE: module === "src/main.ts" ? "replace" : "ignore",
  };
  const isNamed = /(^|,)\s*service\.name=/.test(set.OTEL_RESOURCE_ATTRIBUTES ?? "");
  if (!isNamed) defaults.OTEL_SERVICE_NAME = "animal-store";
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => !set[name]));
}
