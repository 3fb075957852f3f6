/**
 * Generates clients from the OpenAPI document with the common generators, compiles them unchanged, and calls the
 * operations of a service with 1,000 pets. If a generator cannot be installed, its tests are ignored with
 * one line.
 *
 *     deno task test:contract
 */

import { assertEquals } from "@std/assert";
import { expectDone, install, run } from "../support/third_party_tools.ts";
import {
  GENERATOR_JAR,
  GO_BIN,
  HERE,
  installGoTools,
  installJars,
  installNodePackages,
  installPythonTools,
  JAR_FOLDER,
  NODE_FOLDER,
  PYTHON_BIN,
  startLiveService,
} from "./contract_tools.ts";
import { type Need, testNeeding } from "../support/test_needing.ts";

const CLIENTS = `${HERE}/clients`;

type Live = Awaited<ReturnType<typeof startLiveService>>;

const withPython = await install("openapi-python-client", installPythonTools);
const withGo = await install("oapi-codegen", installGoTools);
const withNode = await install("packages from npm", installNodePackages);
const withJava = await install("openapi-generator", installJars);

testClient("openapi-python-client, Python", [withPython], async (live) => {
  const client = `${live.folder}/client`;
  const source = `--url=${live.address}/openapi.json`;
  const generator = `${PYTHON_BIN}/openapi-python-client`;
  await expectDone(generator, ["generate", source, `--output-path=${client}`]);
  const args = [`${CLIENTS}/openapi_python_client.py`, live.baseUrl, live.token];
  return await run(`${PYTHON_BIN}/python`, args, { env: { PYTHONPATH: client } });
});

testClient("oapi-codegen, Go", [withGo], async (live) => {
  const description = `${live.folder}/openapi.json`;
  const { body } = await fetch(`${live.address}/openapi.json`);
  await Deno.writeFile(description, body!);
  const cwd = `${live.folder}/go`;
  await Deno.mkdir(`${cwd}/generated`, { recursive: true });
  for (const file of ["go.mod", "go.sum", "main.go"]) {
    await Deno.copyFile(`${CLIENTS}/go/${file}`, `${cwd}/${file}`);
  }
  const flags = ["-generate=types,client", "-package=pets", "-o", `${cwd}/generated/pets.go`];
  await expectDone(`${GO_BIN}/oapi-codegen`, [...flags, description]);
  const program = `${live.folder}/program`;
  await expectDone("go", ["build", "-o", program, "."], { cwd });
  return await run(program, [live.baseUrl, live.token]);
});

testClient("openapi-generator, Java", [withJava], async (live) => {
  const client = `${live.folder}/client`;
  await generate("java", live, client, ["--library=native"]);
  const classes = `${live.folder}/classes`;
  const jars = Array.from(Deno.readDirSync(JAR_FOLDER), ({ name }) => `${JAR_FOLDER}/${name}`)
    .filter((path) => !path.endsWith(GENERATOR_JAR));
  const classPath = [classes, ...jars].join(":");
  const sources = [...javaFiles(`${client}/src/main/java`), `${CLIENTS}/OpenapiGenerator.java`];
  const flags = ["-nowarn", "-encoding", "UTF-8", "-cp", classPath, "-d", classes];
  await expectDone("javac", [...flags, ...sources]);
  return await run("java", ["-cp", classPath, "OpenapiGenerator", live.baseUrl, live.token]);
});

testClient("openapi-generator, TypeScript", [withNode, withJava], async (live) => {
  await generate("typescript-fetch", live, `${live.folder}/generated`);
  await Deno.copyFile(`${CLIENTS}/openapi_generator.ts`, `${live.folder}/client.ts`);
  await expectDone(`${NODE_FOLDER}/node_modules/.bin/tsc`, [
    ...["--strict", "--target", "es2022", "--lib", "es2022,dom,dom.iterable"],
    ...["--module", "commonjs", "--moduleResolution", "node10"],
    `${live.folder}/client.ts`,
  ]);
  const call = `require("./client.js").callOperations(...process.argv.slice(1))`;
  return await run("node", ["-e", call, live.baseUrl, live.token], { cwd: live.folder });
});

/** Declares a test. `callOperations` resolves to the outcome of a program that prints nothing if it succeeds. */
function testClient(
  name: string,
  needs: Need[],
  callOperations: (live: Live) => ReturnType<typeof run>,
): void {
  testNeeding(...needs)(
    `a client of ${name}: it compiles unchanged, and calls the operations`,
    async () => {
      await using live = await startLiveService();
      assertEquals(await callOperations(live), { code: 0, output: "" });
    },
  );
}

/** Generates a client with openapi-generator, without its tests. */
async function generate(language: string, live: Live, folder: string, flags: string[] = []) {
  await expectDone("java", [
    ...["-jar", `${JAR_FOLDER}/${GENERATOR_JAR}`, "generate", "-g", language],
    ...["-i", `${live.address}/openapi.json`, "-o", folder, ...flags],
  ]);
}

function javaFiles(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return javaFiles(`${folder}/${name}`);
    return name.endsWith(".java") ? [`${folder}/${name}`] : [];
  });
}
