import { assertEquals, assertMatch } from "@std/assert";
import { permitted } from "../support/permitted.ts";

const SOURCES = new URL("../../src/", import.meta.url);

/** Runs a program that reports its crashes. */
async function run(body: string): Promise<{ code: number; stderr: string }> {
  const program = `
    import { installCrashHandlers } from "${SOURCES}life_cycle/exit.ts";
    import { stderrLogger } from "${SOURCES}runtime/stderr_logger.ts";
    installCrashHandlers(stderrLogger);
    ${body}`;
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--ext=ts", program],
    env: { NO_COLOR: "1" },
  }).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

for (
  const [name, body] of [
    ["an uncaught error", 'setTimeout(() => { throw new Error("out of order"); });'],
    ["an unhandled rejection", 'Promise.reject(new Error("out of order"));'],
  ]
) {
  Deno.test({
    name: `installCrashHandlers() logs ${name} as one JSON line, and exits with 1`,
    ignore: !permitted("run", "read"),
    fn: async () => {
      const { code, stderr } = await run(`${body} setTimeout(() => {}, 10_000);`);
      assertEquals(code, 1);
      const { level, event, reason, stack } = JSON.parse(stderr);
      assertEquals([level, event, reason], ["error", "crashed", "out of order"]);
      assertMatch(stack, /^Error: out of order\n/);
    },
  });
}
