import { assert } from "@std/assert";
import { EXIT } from "../../scripts/cli/run_command.ts";
import { fillStore } from "./fill_store.ts";
import { LoadClient } from "./load_client.ts";
import { useRealStore } from "./real_store.ts";
import { runTask } from "./run_task.ts";
import { ServiceProcess } from "./service_process.ts";

const COMMANDS = [["audit"], ["log"], ["keys", "list"], ["keys", "issue", "--label", "second"]];

/**
 * Runs a replay and other commands during load on two services. Rejects if a client sees a failure, a short list or a
 * stale response, or if a command fails. Resolves to `undefined` if all that failed were commits that missed their time
 * limit, as they do on a machine that is too busy.
 */
export async function runReplayLoad(path: string, connections: number, pets: number) {
  const token = await fillStore(path, pets);
  await using one = await ServiceProcess.start(path);
  await using other = await ServiceProcess.start(path);
  const writes = { changes: true, removals: true };
  const options = { token, connections, faults: "none", reads: true, ...writes } as const;
  const load = new LoadClient({ services: () => [one, other], ...options });
  await load.adopt(one);
  const reports: string[] = [];
  const run = async (command: string[]) => {
    const { code, stderr } = await runTask(command, { kvPath: path });
    // An audit has no result if the replay removes what it reads.
    const codes: number[] = command[0] === "audit" ? [EXIT.done, EXIT.noResult] : [EXIT.done];
    assert(codes.includes(code), stderr);
    reports.push(stderr);
  };
  let isReplayed = false;
  const replaying = run(["replay", "--grace", "1"]).finally(() => isReplayed = true);
  let isOver = false;
  const running = load.run(() => isOver);
  const commanding = (async () => {
    for (let round = 0; !isReplayed || round < COMMANDS.length; round++) {
      await run(COMMANDS[round % COMMANDS.length]);
    }
  })();
  await Promise.all([replaying, commanding]).finally(() => isOver = true);
  await running;
  const { outcomes, violations } = load;
  const isSlow = (violation: string) => /The store could not take it within \d+ ms/.test(violation);
  if (violations.length > 0 && violations.every(isSlow)) return undefined;
  await useRealStore(path, (service) => load.expectLogged(service));
  await load.expectServed(one);
  return { outcomes, reports: [...reports, ...one.lines, ...other.lines] };
}
