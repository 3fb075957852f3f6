import { assertEquals, assertMatch } from "@std/assert";
import { permissions, testNeeding } from "../support/test_needing.ts";

const SOURCES = new URL("../../src/", import.meta.url);

const CRASHES = {
  "an uncaught error": 'setTimeout(() => { throw new Error("out of order"); });',
  "an unhandled rejection": 'Promise.reject(new Error("out of order"));',
};

for (const [name, crash] of Object.entries(CRASHES)) {
  testNeeding(permissions("run", "read"))(
    `installCrashHandlers() logs ${name} as one JSON line, and exits with 2`,
    async () => {
      const program = `
      import { installCrashHandlers } from "${SOURCES}life_cycle/exit.ts";
      import { stderrLogger } from "${SOURCES}runtime/stderr_logger.ts";
      installCrashHandlers(stderrLogger);
      ${crash} setTimeout(() => {}, 10_000);`;
      const { code, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["eval", "--ext=ts", program],
        env: { NO_COLOR: "1" },
      }).output();
      assertEquals(code, 2);
      const { level, event, reason, stack } = JSON.parse(new TextDecoder().decode(stderr));
      assertEquals([level, event, reason], ["error", "crashed", "out of order"]);
      assertMatch(stack, /^Error: out of order\n/);
    },
  );
}
