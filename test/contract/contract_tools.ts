/** The tools of the tests of the contract, in `.cache/`, each at a pinned version, and a service for them. */

import { fillStore } from "../support/fill_store.ts";
import { WEBHOOK_KEY } from "../support/webhook_key.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { expectDone, installFromPyPI } from "../support/third_party_tools.ts";

export const HERE = new URL("./", import.meta.url).pathname;
const CACHE = new URL("../../.cache/contract", import.meta.url).pathname;

/** The programs of PyPI. */
export const PYTHON_BIN = `${CACHE}/bin`;
export const GO_BIN = `${CACHE}/go`;
export const NODE_FOLDER = `${CACHE}/npm`;

export const installPythonTools = () => installFromPyPI(CACHE, `${HERE}/requirements.txt`);

export function installGoTools(): Promise<unknown> {
  const codegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";
  return expectDone("go", ["install", codegen], { env: { GOBIN: GO_BIN } });
}

export async function installNodePackages(): Promise<void> {
  await Deno.mkdir(NODE_FOLDER, { recursive: true });
  await Deno.copyFile(`${HERE}/package.json`, `${NODE_FOLDER}/package.json`);
  // No package needs its install scripts.
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  await expectDone("npm", ["install", ...flags], { cwd: NODE_FOLDER });
}

/** A service on its own store with 1,000 pets, with a valid key and a temporary folder. */
export async function startLiveService() {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/pets.sqlite3`;
  const token = await fillStore(kvPath, 1_000);
  const process = await ServiceProcess.start(kvPath, { WEBHOOK_KEY });
  return {
    address: process.address,
    /** The address of the interface. */
    baseUrl: `${process.address}/v1`,
    folder,
    token,
    async [Symbol.asyncDispose]() {
      await process.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
