import { assertEquals } from "@std/assert";
import { VERSION } from "../../../src/settings/version.ts";
import { telemetryVariables } from "../../../scripts/launch/telemetry_variables.ts";

const attributesOf = (name: string) =>
  `service.name=${name},service.version=${VERSION},service.instance.id=ID`;

/** By name: the variables that are set, and those that the service gets in addition. */
const CASES: Record<string, [set: Record<string, string>, added: Record<string, string>]> = {
  "defaults": [{ OTEL_DENO: "true" }, {
    OTEL_DENO: "true",
    OTEL_DENO_CONSOLE: "replace",
    OTEL_RESOURCE_ATTRIBUTES: attributesOf("animal-store"),
  }],
  "those of the operator stay": [
    { OTEL_DENO: "1", OTEL_DENO_CONSOLE: "ignore", OTEL_SERVICE_NAME: "pets" },
    { OTEL_DENO: "1", OTEL_RESOURCE_ATTRIBUTES: attributesOf("pets") },
  ],
  "the attributes of a resource come last, so that they count": [
    { OTEL_DENO: "1", OTEL_RESOURCE_ATTRIBUTES: "a=b,service.name=pets" },
    {
      OTEL_DENO: "1",
      OTEL_DENO_CONSOLE: "replace",
      OTEL_RESOURCE_ATTRIBUTES: `${attributesOf("animal-store")},a=b,service.name=pets`,
    },
  ],
  "OTEL_DENO, which is off for the launcher of a task, is restored": [
    {
      LAUNCHED_OTEL_DENO: "true",
      OTEL_DENO: "false",
      OTEL_DENO_CONSOLE: "ignore",
      OTEL_SERVICE_NAME: "pets",
    },
    { OTEL_DENO: "true", OTEL_RESOURCE_ATTRIBUTES: attributesOf("pets") },
  ],
  "off for the command": [{ LAUNCHED_OTEL_DENO: "", OTEL_DENO: "true" }, {}],
  "off": [{ OTEL_DENO: "false" }, {}],
  "no word for on": [{ OTEL_DENO: "yes" }, {}],
  "not set": [{}, {}],
};

Deno.test("telemetryVariables() adds what is missing, and lets only the service send its lines", () => {
  for (const [name, [set, added]] of Object.entries(CASES)) {
    const actual = JSON.stringify(telemetryVariables("src/main.ts", set));
    assertEquals(JSON.parse(actual.replace(/(?<=instance\.id=)[\da-f-]{36}/, "ID")), added, name);
  }
  const ofCommand = telemetryVariables("scripts/audit/main.ts", { OTEL_DENO: "true" });
  assertEquals(ofCommand.OTEL_DENO_CONSOLE, "ignore");
});
