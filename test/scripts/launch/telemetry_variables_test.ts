import { assertEquals } from "@std/assert";
import { telemetryVariables } from "../../../scripts/launch/telemetry_variables.ts";

/** By name: the variables that are set, and those that the service gets in addition. */
const CASES: Record<string, [set: Record<string, string>, added: Record<string, string>]> = {
  "defaults": [{ OTEL_DENO: "true" }, {
    OTEL_DENO: "true",
    OTEL_DENO_CONSOLE: "replace",
    OTEL_SERVICE_NAME: "animal-store",
  }],
  "those of the operator stay": [
    { OTEL_DENO: "1", OTEL_DENO_CONSOLE: "ignore", OTEL_SERVICE_NAME: "pets" },
    { OTEL_DENO: "1" },
  ],
  "the name of a resource stays": [
    { OTEL_DENO: "1", OTEL_RESOURCE_ATTRIBUTES: "a=b,service.name=pets" },
    { OTEL_DENO: "1", OTEL_DENO_CONSOLE: "replace" },
  ],
  "OTEL_DENO, which is off for the launcher of a task, is restored": [
    {
      LAUNCHED_OTEL_DENO: "true",
      OTEL_DENO: "false",
      OTEL_DENO_CONSOLE: "ignore",
      OTEL_SERVICE_NAME: "pets",
    },
    { OTEL_DENO: "true" },
  ],
  "off for the command": [{ LAUNCHED_OTEL_DENO: "", OTEL_DENO: "true" }, {}],
  "off": [{ OTEL_DENO: "false" }, {}],
  "no word for on": [{ OTEL_DENO: "yes" }, {}],
  "not set": [{}, {}],
};

Deno.test("telemetryVariables() adds what is missing, and lets only the service send its lines", () => {
  for (const [name, [set, added]] of Object.entries(CASES)) {
    assertEquals(telemetryVariables("src/main.ts", set), added, name);
  }
  const ofCommand = telemetryVariables("scripts/audit/main.ts", { OTEL_DENO: "true" });
  assertEquals(ofCommand.OTEL_DENO_CONSOLE, "ignore");
});
