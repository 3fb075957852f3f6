/** Third-party tools of the tests of the contract, installed into `.cache/` once, each at a pinned version. */

import { encodeHex } from "@std/encoding/hex";
import { permitted } from "../support/permitted.ts";

export const HERE = new URL("./", import.meta.url).pathname;
const CACHE = new URL("../../.cache/contract", import.meta.url).pathname;

/** The programs of PyPI. */
export const PYTHON_BIN = `${CACHE}/bin`;
export const GO_BIN = `${CACHE}/go`;
export const NODE_FOLDER = `${CACHE}/npm`;
export const JAR_FOLDER = `${CACHE}/jars`;

export const GENERATOR_JAR = "openapi-generator-cli-7.25.0.jar";

const OAPI_CODEGEN = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2";

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

/** Installs a set of tools. Resolves to the obstacle if that is impossible. */
export async function install(tools: () => Promise<string | undefined>, what: string) {
  const obstacle = permitted("run", "read", "write", "net", "env")
    ? await tools().catch((error) => error.message)
    : "they need all permissions";
  if (obstacle !== undefined) console.log(`Left out the tests with ${what}: ${obstacle}`);
  return obstacle;
}

export async function installPythonTools(): Promise<string | undefined> {
  const made = await run("python3", ["-m", "venv", CACHE]);
  if (made.code !== 0) return "python3 makes no virtual environment here";
  const requirements = `${HERE}/requirements.txt`;
  const { code } = await run(`${PYTHON_BIN}/pip`, ["install", "--quiet", "-r", requirements]);
  return code === 0 ? undefined : "pip cannot install the tools";
}

export async function installGoTools(): Promise<string | undefined> {
  const { code } = await run("go", ["install", OAPI_CODEGEN], { env: { GOBIN: GO_BIN } });
  return code === 0 ? undefined : "go cannot install oapi-codegen";
}

export async function installNodePackages(): Promise<string | undefined> {
  await Deno.mkdir(NODE_FOLDER, { recursive: true });
  await Deno.copyFile(`${HERE}/package.json`, `${NODE_FOLDER}/package.json`);
  // No package needs its install scripts.
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const { code } = await run("npm", ["install", ...flags], { cwd: NODE_FOLDER });
  return code === 0 ? undefined : "npm cannot install the packages";
}

export async function installJars(): Promise<string | undefined> {
  if ((await run("javac", ["-version"])).code !== 0) return "javac does not start";
  await Deno.mkdir(JAR_FOLDER, { recursive: true });
  for (const [path, hash] of Object.entries(JARS)) {
    const file = `${JAR_FOLDER}/${path.split("/").at(-1)}`;
    if (await hashOf(file) === hash) continue;
    const response = await fetch(`https://repo1.maven.org/maven2/${path}`);
    if (!response.ok) return `Maven Central responds with ${response.status} for ${path}`;
    await Deno.writeFile(file, await response.bytes());
    if (await hashOf(file) !== hash) return `the SHA-256 of ${path} is not the expected one`;
  }
}

async function hashOf(file: string): Promise<string | undefined> {
  try {
    return encodeHex(await crypto.subtle.digest("SHA-256", await Deno.readFile(file)));
  } catch {
    return undefined;
  }
}

/** Runs a program to its end. Rejects if it is not installed. */
export async function run(program: string, args: string[], options: Deno.CommandOptions = {}) {
  try {
    const command = new Deno.Command(program, { ...options, args });
    const { code, stdout, stderr } = await command.output();
    const decoder = new TextDecoder();
    return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new Error(`${program} is not installed`);
    throw error;
  }
}
