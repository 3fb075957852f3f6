/** Installs `denokv`, the self-hosted KV Connect server, with cargo. */

/** https://crates.io/crates/denokv */
export const DENOKV_VERSION = "0.14.0";

const ROOT = new URL(`../../.cache/denokv-${DENOKV_VERSION}`, import.meta.url).pathname;

/** A build takes some minutes on two cores. */
const BUILD_LIMIT_MS = 40 * 60_000;

/** `denokv` cannot be installed. The message gives the reason on one line. */
export class NoDenokvError extends Error {}

/** Builds the program once and resolves to its path. Throws `NoDenokvError`. */
export async function installDenokv(): Promise<string> {
  const program = `${ROOT}/bin/denokv`;
  if (await isFile(program)) return program;
  console.error(`Building denokv ${DENOKV_VERSION} with cargo once; this takes minutes`);
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
