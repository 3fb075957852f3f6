/** Installs `denokv`, the self-hosted KV Connect server, by cargo, for the tests against it. */

/** https://crates.io/crates/denokv */
export const DENOKV_VERSION = "0.14.0";

const ROOT = new URL(`../../.cache/denokv-${DENOKV_VERSION}`, import.meta.url).pathname;

/** Building takes some minutes on two cores. */
const BUILD_LIMIT_MS = 40 * 60_000;

/** It cannot be had here; the message says why, on one line. */
export class NoDenokvError extends Error {}

/** The path of the program, which is built unless it is there. Throws `NoDenokvError`. */
export async function installDenokv(): Promise<string> {
  const program = `${ROOT}/bin/denokv`;
  if (await isFile(program)) return program;
  console.error(`Building denokv ${DENOKV_VERSION} by cargo; that is done once, and takes minutes`);
  const crate = ["denokv", "--version", DENOKV_VERSION, "--locked"];
  let output: Deno.CommandOutput;
  try {
    output = await new Deno.Command("cargo", {
      args: ["install", ...crate, "--root", ROOT, "--quiet"],
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(BUILD_LIMIT_MS),
    }).output();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new NoDenokvError("cargo is not installed");
    throw error;
  }
  if (output.success && await isFile(program)) return program;
  const messages = new TextDecoder().decode(output.stderr);
  const reason = messages.split("\n").find((line) => line.startsWith("error")) ??
    `cargo ended with ${output.signal ?? output.code}`;
  throw new NoDenokvError(`cargo could not build denokv ${DENOKV_VERSION}: ${reason}`);
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
