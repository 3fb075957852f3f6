/** The layers of the program, and the place of a file in them. */

import { COMMANDS } from "../../scripts/commands.ts";
import engine from "../../src/eventstore_less/deno.json" with { type: "json" };

export const ENGINE = "src/eventstore_less/";

/** Any module above the engine may import it, unless this makes a circle. */
export const APPLICATION = "src/application.ts";

/** The table of what the interface answers. The command conformance tells it, too. */
const INTERFACE = /^test\/interface\//;

/** The modules of the engine that others import. */
const ENTRIES = Object.values(engine.exports).map((path) => path.replace("./", ENGINE));

/** Each room as a pattern after the folder of the page. */
const LAYERS_OF_WINDOW = [
  ["csv/", "parts/"],
  ["data/"],
  ["navigation/"],
  ["categories/"],
  ["animal/"],
  ["activity/", "import/"],
  ["list/"],
  [""],
];

/**
 * The layers of the program, the lowest first. A file imports only from its own room and from lower layers; the
 * rooms of one layer do not import each other. A file is in the first room whose pattern it matches.
 */
export function layersOf(application: string): RegExp[][] {
  return [
    [INTERFACE],
    ...layersOfEngine().map((rooms) => rooms.map((room) => new RegExp(`^${ENGINE}(?:${room})`))),
    [/^deno\.json$/, /^src\/encoding\//, /^src\/runtime\//, /^src\/settings\/version\.ts$/],
    [/^events\//],
    [/^src\/telemetry\//, /^src\/keys\//, /^src\/webhooks\/sending\//],
    [/^src\/api\//],
    foldersOfCollections(application),
    [/^src\/application\.ts$/],
    ...LAYERS_OF_WINDOW.map((rooms) => rooms.map((room) => new RegExp(`^src/window/${room}`))),
    [/^src\/http\//],
    [/^src\/settings\//, /^src\/server\//],
    [/^src\/service\.ts/],
    [/^src\/life_cycle\//],
    [/^src\/main\.ts/],
    [/^scripts\/cli\//],
    Object.keys(COMMANDS).map((name) => new RegExp(`^scripts/${name}/`)),
    [/^scripts\/(?:commands|main)\.ts$/, /^scripts\/(?:build|deploy)\//],
  ];
}

/** Each room as a pattern after the folder of the engine. */
function layersOfEngine(): string[][] {
  return [
    ["words\\.ts", "deno\\.json"],
    ["encoding/", "runtime/"],
    ["definitions\\.ts", "log/(line_text|actor|subject_id|erased)\\.ts", "store/"],
    ["complete_collection\\.ts", "service_error\\.ts"],
    ["keyspace\\.ts"],
    ["application(_faults)?\\.ts"],
    ["log/"],
    ["projections/"],
    ["append/"],
    ["consumers/", "feed/"],
    ["idempotency/", "record_reader\\.ts", "unlogged_record\\.ts"],
    ["event_(store|command)\\.ts"],
    ["tools/"],
    ["testing/"],
    ENTRIES.map((path) => path.slice(ENGINE.length)),
  ];
}

/** The folders of the collections of the application. That of API keys is in a lower layer, too, and counts there. */
function foldersOfCollections(application: string): RegExp[] {
  const imports = application.matchAll(/^import .* from "\.\/(\w+)\/\w+\.ts";$/gm);
  // The application has its name from the settings, which are in a higher layer.
  return Array.from(imports, ([, folder]) => folder).filter((folder) => folder !== "settings")
    .map((folder) => new RegExp(`^src/${folder}/`));
}

/** The layer and the room of a file. A room is identified by its pattern. */
export function placeOf(layers: RegExp[][], file: string): { layer: number; room: RegExp } {
  for (const [layer, rooms] of layers.entries()) {
    const room = rooms.find((pattern) => pattern.test(file));
    if (room !== undefined) return { layer, room };
  }
  throw new Error(`${file} is in no layer`);
}
