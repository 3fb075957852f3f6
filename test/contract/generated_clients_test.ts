/**
 * Generates clients from the OpenAPI document with the common generators, compiles them unchanged, and calls the
 * three operations of a service with 1,000 pets. If a generator cannot be installed, its tests are ignored with
 * one line.
 *
 *     deno task test:contract
 */

import { assertEquals } from "@std/assert";
import {
  GENERATOR_JAR,
  GO_BIN,
  HERE,
  install,
  installGoTools,
  installJars,
  installNodePackages,
  installPythonTools,
  JAR_FOLDER,
  NODE_FOLDER,
  PYTHON_BIN,
  run,
} from "./contract_tools.ts";
import { startLiveService } from "./live_service.ts";

const CLIENTS = `${HERE}/clients`;

type Live = Awaited<ReturnType<typeof startLiveService>>;

const withoutPython = await install(installPythonTools, "tools from PyPI");
const withoutGo = await install(installGoTools, "oapi-codegen");
const withoutNode = await install(installNodePackages, "packages from npm");
const withoutJava = await install(installJars, "openapi-generator");

testClient("openapi-python-client, Python", [withoutPython], async (live) => {
  await expectDone(`${PYTHON_BIN}/openapi-python-client`, [
    "generate",
    `--url=${live.address}/openapi.json`,
    `--output-path=${live.folder}/client`,
  ]);
  return await runPython("openapi_python_client.py", live, `${live.folder}/client`);
});

testClient("openapi-generator, Python", [withoutPython, withoutJava], async (live) => {
  await generate("python", live, `${live.folder}/client`);
  return await runPython("openapi_generator.py", live, `${live.folder}/client`);
});

testClient("oapi-codegen, Go", [withoutGo], async (live) => {
  const description = `${live.folder}/openapi.json`;
  const { body } = await fetch(`${live.address}/openapi.json`);
  await Deno.writeFile(description, body!);
  return await runGo("oapi_codegen", live, async (folder) => {
    await Deno.mkdir(folder);
    const flags = ["-generate=types,client", "-package=pets", "-o", `${folder}/pets.go`];
    await expectDone(`${GO_BIN}/oapi-codegen`, [...flags, description]);
  });
});

testClient(
  "openapi-generator, Go",
  [withoutGo, withoutJava],
  (live) =>
    runGo("openapi_generator", live, async (folder) => {
      await generate("go", live, folder, ["--additional-properties=packageName=pets"]);
      // The generated package becomes a part of the module of the client.
      for (const name of ["go.mod", "go.sum", "test"]) {
        await Deno.remove(`${folder}/${name}`, { recursive: true });
      }
    }),
);

testClient("openapi-generator, Java", [withoutJava], async (live) => {
  const client = `${live.folder}/client`;
  await generate("java", live, client, ["--library=native"]);
  const classes = `${live.folder}/classes`;
  const classPath = [
    classes,
    ...fileNames(JAR_FOLDER).filter((name) => name !== GENERATOR_JAR)
      .map((name) => `${JAR_FOLDER}/${name}`),
  ].join(":");
  const sources = [...javaFiles(`${client}/src/main/java`), `${CLIENTS}/OpenapiGenerator.java`];
  await expectDone("javac", [
    "-nowarn",
    "-encoding",
    "UTF-8",
    "-cp",
    classPath,
    "-d",
    classes,
    ...sources,
  ]);
  return await run("java", ["-cp", classPath, "OpenapiGenerator", live.baseUrl, live.token]);
});

testClient("openapi-generator, TypeScript", [withoutNode, withoutJava], async (live) => {
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
  obstacles: (string | undefined)[],
  callOperations: (live: Live) => ReturnType<typeof run>,
): void {
  Deno.test({
    name: `a client of ${name}: it compiles unchanged, and calls the three operations`,
    ignore: obstacles.some((obstacle) => obstacle !== undefined),
    async fn() {
      await using live = await startLiveService(1_000);
      assertEquals(await callOperations(live), { code: 0, output: "" });
    },
  });
}

/** Generates a client with openapi-generator, without its tests. */
async function generate(language: string, live: Live, folder: string, flags: string[] = []) {
  await expectDone("java", [
    ...["-jar", `${JAR_FOLDER}/${GENERATOR_JAR}`, "generate", "-g", language],
    ...["-i", `${live.address}/openapi.json`, "-o", folder, ...flags],
  ]);
}

async function runPython(script: string, { baseUrl, token }: Live, pythonPath: string) {
  const env = { PYTHONPATH: pythonPath };
  return await run(`${PYTHON_BIN}/python`, [`${CLIENTS}/${script}`, baseUrl, token], { env });
}

/** Builds and runs a program of the Go module, with the package that `generate` puts into its folder. */
async function runGo(program: string, live: Live, generate: (folder: string) => Promise<void>) {
  const module = `${live.folder}/go`;
  await Deno.mkdir(`${module}/${program}`, { recursive: true });
  for (const file of ["go.mod", "go.sum", `${program}/main.go`]) {
    await Deno.copyFile(`${CLIENTS}/go/${file}`, `${module}/${file}`);
  }
  await generate(`${module}/${program}/generated`);
  await expectDone("go", ["build", "-o", `${live.folder}/program`, `./${program}`], {
    cwd: module,
  });
  return await run(`${live.folder}/program`, [live.baseUrl, live.token]);
}

async function expectDone(...command: Parameters<typeof run>): Promise<void> {
  const { code, output } = await run(...command);
  assertEquals(code, 0, output);
}

function javaFiles(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return javaFiles(`${folder}/${name}`);
    return name.endsWith(".java") ? [`${folder}/${name}`] : [];
  });
}

function fileNames(folder: string): string[] {
  return Array.from(Deno.readDirSync(folder), ({ name }) => name);
}
