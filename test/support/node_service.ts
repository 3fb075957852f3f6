/** The service on Node: `src/` as it is, with packages of npm. */

import config from "../../deno.json" with { type: "json" };
import { ServiceProcess } from "./service_process.ts";
import { expectDone } from "./third_party_tools.ts";

/** Packages that the service needs only on Node. The packages of deno.json are installed too, in the same versions. */
const PACKAGES = ["node@24.21.0", "srvx@1.0.8"];

const FOLDER = new URL("../../.cache/node", import.meta.url).pathname;

export async function installNode(): Promise<void> {
  await Deno.mkdir(FOLDER, { recursive: true });
  // The others are modules of the project.
  const specifiers = Object.values(config.imports).filter((it) => it.startsWith("npm:"));
  const ofProject = specifiers.map((it) => /@?[^@:]+@[\d.]+/.exec(it)![0].replace(/^\//, ""));
  const packages = [...PACKAGES, ...ofProject];
  // The package of Node installs its program by a script.
  const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--prefix", FOLDER];
  await expectDone("npm", ["install", ...flags, ...new Set(packages)], { cwd: FOLDER });
}

export function startOnNode(store: string): Promise<ServiceProcess> {
  const node = `${FOLDER}/node_modules/.bin/node`;
  const runtime = [node, "--import", "./test/node/deno_on_node.ts"];
  return ServiceProcess.start(store, { PACKAGES: FOLDER }, runtime);
}
