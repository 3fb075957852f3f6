/**
 * Generates clients from the OpenAPI document with common generators, compiles them unchanged, and calls the operations
 * of a service with 1,000 pets. If a generator cannot be installed, its test is ignored with one line.
 *
 *     deno task test:contract
 */

import { assertEquals } from "@std/assert";
import { testNeeding } from "../support/test_needing.ts";
import { expectDone, install, run } from "../support/third_party_tools.ts";
import {
  GO_BIN,
  HERE,
  installGoTools,
  installPythonTools,
  PYTHON_BIN,
  startLiveService,
} from "./contract_tools.ts";

const CLIENTS = `${HERE}/clients`;

const withPython = await install("openapi-python-client", installPythonTools);
const withGo = await install("oapi-codegen", installGoTools);

testNeeding(withPython)(
  "a client of openapi-python-client: it works unchanged, and calls the operations",
  async () => {
    await using live = await startLiveService();
    const client = `${live.folder}/client`;
    const source = `--url=${live.address}/openapi.json`;
    const generator = `${PYTHON_BIN}/openapi-python-client`;
    await expectDone(generator, ["generate", source, `--output-path=${client}`]);
    const args = [`${CLIENTS}/openapi_python_client.py`, live.baseUrl, live.token];
    const called = await run(`${PYTHON_BIN}/python`, args, { env: { PYTHONPATH: client } });
    assertEquals(called, { code: 0, output: "" });
  },
);

testNeeding(withGo)(
  "a client of oapi-codegen, Go: it compiles unchanged, and calls the operations",
  async () => {
    await using live = await startLiveService();
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
    assertEquals(await run(program, [live.baseUrl, live.token]), { code: 0, output: "" });
  },
);
