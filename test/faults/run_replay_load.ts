/**
 * Replays under load. Fails if a client sees one of them.
 *
 *     deno run -A test/faults/run_replay_load.ts [KILLS] [PETS] [CONNECTIONS]
 */

import { runReplayLoad } from "../support/replay_load.ts";
import { TempStore } from "../support/temp_store.ts";

const [kills = 20, pets = 20_000, connections = 64] = Deno.args.map(Number);
await using temp = await TempStore.make();
const start = performance.now();
console.log(await runReplayLoad(temp.kvPath, { connections, pets, kills }));
console.log(`No violation in ${Math.round(performance.now() - start)} ms`);
