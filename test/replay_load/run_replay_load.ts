/**
 * Replays under load, for as long as it takes, and with as many of them killed as asked for.
 *
 *     deno run -A test/replay_load/run_replay_load.ts [KILLS] [PETS] [CLIENTS]
 */

import { runReplayLoad } from "./replay_load.ts";

const [kills = 20, pets = 20_000, clients = 64] = Deno.args.map(Number);
const folder = await Deno.makeTempDir();
const start = performance.now();
const { violations, audits, ...outcome } = await runReplayLoad(`${folder}/pets.sqlite3`, {
  clients,
  pets,
  kills,
});
console.log(outcome);
console.log(`${audits.length} audits, with the exit codes ${audits.map(({ code }) => code)}`);
for (const { code, stdout, stderr } of audits) if (code !== 0) console.log(stdout, stderr);
console.log(`${violations.length} violations in ${Math.round(performance.now() - start)} ms`);
for (const violation of violations.slice(0, 20)) console.log(violation);
await Deno.remove(folder, { recursive: true });
const isClean = violations.length === 0 &&
  [...audits, ...outcome.replays].every(({ code }) => code === 0);
Deno.exit(isClean ? 0 : 1);
