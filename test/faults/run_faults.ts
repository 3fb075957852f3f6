/**
 * Kills real processes, one in each round.
 *
 *     deno task faults [--rounds N]
 */

import { parseArgs } from "node:util";
import { killRounds } from "./kill_rounds.ts";

const { values: { rounds } } = parseArgs({
  options: { rounds: { type: "string", default: "50" } },
});
if (!/^[1-9]\d{0,5}$/.test(rounds)) {
  console.error(`error: --rounds takes a number from 1, not ${JSON.stringify(rounds)}`);
  Deno.exit(2);
}
const { load, killedServices, killedCommands, events } = await killRounds(Number(rounds));
console.log(
  `${rounds} rounds: ${killedServices} services and ${killedCommands} commands killed; ` +
    `additions: ${load.summary}; ${events} events; none lost or duplicated`,
);
