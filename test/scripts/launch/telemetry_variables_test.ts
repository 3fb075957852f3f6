import { assertEquals } from "@std/assert";
import { VERSION } from "../../../src/settings/version.ts";
import { telemetryVariables } from "../../../scripts/launch/telemetry_variables.ts";

Deno.test("telemetryVariables() adds what is missing, and lets only the service send its lines", () => {
  const variables = (set: Record<string, string>, module = "src/main.ts") => {
    const json = JSON.stringify(telemetryVariables(module, set));
    return JSON.parse(json.replace(/(?<=instance\.id=)[\da-f-]{36}/, "ID"));
  };
  const attributesOf = (name: string) =>
    `service.name=${name},service.version=${VERSION},service.instance.id=ID`;
  const ofService = {
    OTEL_DENO: "true",
    OTEL_DENO_CONSOLE: "replace",
    OTEL_RESOURCE_ATTRIBUTES: attributesOf("animal-store"),
  };
  assertEquals(variables({ OTEL_DENO: "true" }), ofService);
  // A task turns OTEL_DENO off for the launcher.
  assertEquals(variables({ LAUNCHED_OTEL_DENO: "true", OTEL_DENO: "false" }), ofService);
  const ofCommand = variables({ OTEL_DENO: "true" }, "scripts/audit/main.ts");
  assertEquals(ofCommand, { ...ofService, OTEL_DENO_CONSOLE: "ignore" });
  const own = { OTEL_DENO: "1", OTEL_DENO_CONSOLE: "ignore", OTEL_SERVICE_NAME: "pets" };
  const ofOperator = { OTEL_RESOURCE_ATTRIBUTES: "a=b,service.name=others" };
  assertEquals(variables({ ...own, ...ofOperator }), {
    OTEL_DENO: "1",
    OTEL_DENO_CONSOLE: "ignore",
    // The last of two values counts.
    OTEL_RESOURCE_ATTRIBUTES: `${attributesOf("pets")},a=b,service.name=others`,
  });
  const off = [{ LAUNCHED_OTEL_DENO: "", OTEL_DENO: "true" }, { OTEL_DENO: "yes" }, {}];
  for (const set of off as Record<string, string>[]) assertEquals(variables(set), {});
});
