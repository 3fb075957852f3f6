import { assertEquals } from "@std/assert";
import { telemetryVariables } from "../../../scripts/launch/telemetry_variables.ts";

const SERVICE = "src/main.ts";

Deno.test("telemetryVariables() names the service, and lets only the service send its lines", () => {
  const on = { OTEL_DENO: "true" };
  assertEquals(telemetryVariables(SERVICE, on), {
    OTEL_DENO: "true",
    OTEL_DENO_CONSOLE: "replace",
    OTEL_SERVICE_NAME: "animal-store",
  });
  assertEquals(telemetryVariables("scripts/audit/main.ts", on).OTEL_DENO_CONSOLE, "ignore");
});

Deno.test("telemetryVariables() keeps the variables of the operator", () => {
  const set = { OTEL_DENO: "1", OTEL_DENO_CONSOLE: "ignore", OTEL_SERVICE_NAME: "pets" };
  assertEquals(telemetryVariables(SERVICE, set), { OTEL_DENO: "1" });
  const resource = { OTEL_DENO: "1", OTEL_RESOURCE_ATTRIBUTES: "a=b,service.name=pets" };
  assertEquals(telemetryVariables(SERVICE, resource), {
    OTEL_DENO: "1",
    OTEL_DENO_CONSOLE: "replace",
  });
});

Deno.test("telemetryVariables() restores OTEL_DENO, which is off for the launcher of a task", () => {
  const task = { OTEL_DENO: "false", OTEL_DENO_CONSOLE: "ignore", OTEL_SERVICE_NAME: "pets" };
  const restored = telemetryVariables(SERVICE, { ...task, LAUNCHED_OTEL_DENO: "true" });
  assertEquals(restored, { OTEL_DENO: "true" });
  assertEquals(telemetryVariables(SERVICE, { ...task, LAUNCHED_OTEL_DENO: "" }), {});
});

Deno.test("telemetryVariables() adds nothing without telemetry", () => {
  for (const OTEL_DENO of ["", "false", "yes"]) {
    assertEquals(telemetryVariables(SERVICE, { OTEL_DENO }), {});
  }
  assertEquals(telemetryVariables(SERVICE, {}), {});
});
