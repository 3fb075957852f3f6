/** The tools of the tests of the contract, in `.cache/`, each at a pinned version, and a service for them. */

import { sha256Hex } from "../../src/encoding/sha256.ts";
import { fillStore } from "../support/fill_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { expectDone, installFromPyPI } from "../support/third_party_tools.ts";

export const HERE = new URL("./", import.meta.url).pathname;
const CACHE = new URL("../../.cache/contract", import.meta.url).pathname;

/** The programs of PyPI. */
export const PYTHON_BIN = `${CACHE}/bin`;
export const GO_BIN = `${CACHE}/go`;
export const NODE_FOLDER = `${CACHE}/npm`;
export const JAR_FOLDER = `${CACHE}/jars`;

export const GENERATOR_JAR = "openapi-generator-cli-7.25.0.jar";

/** openapi-generator, and what its Java client needs: paths at Maven Central with the SHA-256 of the files. */
const JARS = {
  [`org/openapitools/openapi-generator-cli/7.25.0/${GENERATOR_JAR}`]:
    "41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae",
  "com/fasterxml/jackson/core/jackson-annotations/2.21/jackson-annotations-2.21.jar":
    "53ca085f4a150f703f49e1aabd935bd03b43e1ea3d55d135438292af22cef56b",
  "com/fasterxml/jackson/core/jackson-core/2.21.5/jackson-core-2.21.5.jar":
    "b64b5874162b503a0e58a8f7758266e8dd9f91bf49e3a59ae0b5f47589a231b7",
  "com/fasterxml/jackson/core/jackson-databind/2.21.5/jackson-databind-2.21.5.jar":
    "507418c0fafd38b2b2cfb704521630da613a8e4cc8381195a6f418017883e2c0",
  "com/fasterxml/jackson/datatype/jackson-datatype-jsr310/2.21.5/jackson-datatype-jsr310-2.21.5.jar":
    "e941f9718d16a649614cb06711de06da34722afff9cee0b7725fc5318638304c",
  "org/openapitools/jackson-databind-nullable/0.2.11/jackson-databind-nullable-0.2.11.jar":
    "07417c949d66a67eb8bc1e919f3f1f13a741badf8b4fcbd39ac16a509d38d34c",
  "com/google/code/findbugs/jsr305/3.0.2/jsr305-3.0.2.jar":
    "766ad2a0783f2687962c8ad74ceecc38a28b9f72a2d085ee438b7813e928d0c7",
  "jakarta/annotation/jakarta.annotation-api/1.3.5/jakarta.annotation-api-1.3.5.jar":
    "85fb03fc054cdf4efca8efd9b6712bbb418e1ab98241c4539c8585bbc23e1b8a",
};

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

export async function installJars(): Promise<void> {
  await expectDone("javac", ["-version"]);
  await Deno.mkdir(JAR_FOLDER, { recursive: true });
  for (const [path, hash] of Object.entries(JARS)) {
    const file = `${JAR_FOLDER}/${path.split("/").at(-1)}`;
    if (await hashOf(file) === hash) continue;
    const response = await fetch(`https://repo1.maven.org/maven2/${path}`);
    if (!response.ok) throw new Error(`Maven Central responds with ${response.status} for ${path}`);
    await Deno.writeFile(file, await response.bytes());
    if (await hashOf(file) !== hash) throw new Error(`the SHA-256 of ${path} is another one`);
  }
}

async function hashOf(file: string): Promise<string | undefined> {
  const content = await Deno.readFile(file).catch(() => undefined);
  return content && sha256Hex(content);
}

/** A service on its own store with 1,000 pets, with a valid key and a temporary folder. */
export async function startLiveService() {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/pets.sqlite3`;
  const token = await fillStore(kvPath, 1_000);
  const process = await ServiceProcess.start(kvPath);
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
