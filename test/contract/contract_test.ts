/**
 * Tests of the contract with third-party tools from PyPI, which are installed first. If they cannot be
 * installed, the tests are ignored with one line.
 *
 *     deno task test:contract
 */

import { assertEquals } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { runTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";

const HERE = new URL(".", import.meta.url).pathname;
const CACHE = new URL("../../.cache/contract", import.meta.url).pathname;

/** Maximum number of cases that Schemathesis generates for an operation. */
const CASES = 100;

const missing = await installTools();
if (missing !== undefined) console.log(`Left out the tests of the contract: ${missing}`);

Deno.test({
  name: "Schemathesis finds no difference between the OpenAPI document and the service",
  ignore: missing !== undefined,
  async fn() {
    await using live = await startService();
    const { code, output } = await run(`${CACHE}/bin/schemathesis`, [
      `--config-file=${HERE}/schemathesis.toml`,
      "run",
      `${live.address}/openapi.json`,
      `--header=Authorization: Bearer ${live.token}`,
      "--checks=all",
      "--continue-on-failure",
      `--max-examples=${CASES}`,
      "--seed=1",
      "--no-color",
    ], { cwd: live.folder });
    assertEquals(code, 0, output);
    console.log(output.match(/^Test cases:\n.*$/m)?.[0]);
  },
});

Deno.test({
  name: "an unchanged generated Python client calls the three operations",
  ignore: missing !== undefined,
  async fn() {
    await using live = await startService();
    const client = `${live.folder}/client`;
    const generated = await run(`${CACHE}/bin/openapi-python-client`, [
      "generate",
      `--url=${live.address}/openapi.json`,
      `--output-path=${client}`,
    ]);
    assertEquals(generated.code, 0, generated.output);
    const used = await run(
      `${CACHE}/bin/python`,
      [`${HERE}/three_operations.py`, `${live.address}/v1`, live.token],
      { env: { PYTHONPATH: client } },
    );
    assertEquals(used, { code: 0, output: "" });
  },
});

/** A service on its own store, with a valid key and a temporary folder. */
async function startService() {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/pets.sqlite3`;
  const issued = await runTask(["keys", "issue", "--label", "contract"], { kvPath });
  const process = await ServiceProcess.start(kvPath);
  return {
    address: process.address,
    folder,
    token: issued.stdout.trim(),
    async [Symbol.asyncDispose]() {
      await process.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** Installs the tools into `.cache/` once. Resolves to the obstacle if that is impossible. */
async function installTools(): Promise<string | undefined> {
  if (!permitted("run", "read", "write", "net", "env")) return "they need all permissions";
  try {
    const made = await run("python3", ["-m", "venv", CACHE]);
    if (made.code !== 0) return "python3 makes no virtual environment here";
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "python3 is not installed";
    throw error;
  }
  const requirements = `${HERE}/requirements.txt`;
  const { code } = await run(`${CACHE}/bin/pip`, ["install", "--quiet", "-r", requirements]);
  return code === 0 ? undefined : "pip cannot install the tools";
}

async function run(program: string, args: string[], options: Deno.CommandOptions = {}) {
  const command = new Deno.Command(program, { ...options, args });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, output: decoder.decode(stdout) + decoder.decode(stderr) };
}
