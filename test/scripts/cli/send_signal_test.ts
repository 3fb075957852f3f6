import { assertEquals } from "@std/assert";
import type { ChildProcess } from "node:child_process";
import { sendSignal } from "../../../scripts/cli/send_signal.ts";
import { NOT_WINDOWS, PROCESSES, testNeeding } from "../../support/test_needing.ts";

const test = testNeeding(PROCESSES, NOT_WINDOWS);

test("sendSignal() ends a process that runs", async () => {
  assertEquals(await signalThatEnds({ exitCode: null, signalCode: null }), "SIGTERM");
});

for (
  const [how, ended] of [
    ["exited", { exitCode: 0, signalCode: null }],
    ["been killed", { exitCode: null, signalCode: "SIGKILL" }],
  ] as const
) {
  test(`sendSignal() spares another process that has got the id of one that has ${how}`, async () => {
    assertEquals(await signalThatEnds(ended), "SIGKILL");
  });
}

/** Sends SIGTERM to a child in that state, whose id another process has, and then SIGKILL to that process. */
async function signalThatEnds(
  state: Pick<ChildProcess, "exitCode" | "signalCode">,
): Promise<Deno.Signal | null> {
  const other = new Deno.Command("sleep", { args: ["60"] }).spawn();
  try {
    sendSignal({ ...state, pid: other.pid }, "SIGTERM");
  } finally {
    // It changes nothing if the process has got a signal that ends it.
    Deno.kill(other.pid, "SIGKILL");
  }
  return (await other.status).signal;
}
