/**
 * Builds `denokv`, the self-hosted KV Connect server, with cargo, unless that was done before. If this is not
 * possible, prints one line.
 *
 *     deno run --allow-all test/support/install_denokv.ts
 */

import { DENOKV_FOLDER, DENOKV_VERSION, isBuilt } from "./denokv_server.ts";

/** A build takes some minutes on two cores. */
const BUILD_LIMIT_MS = 40 * 60_000;

/** Resolves to whether the program is there. */
export async function installDenokv(): Promise<boolean> {
  if (isBuilt()) return true;
  console.error(`Building denokv ${DENOKV_VERSION} with cargo once; this takes minutes`);
  const crate = ["denokv", "--version", DENOKV_VERSION, "--locked"];
  try {
    const { success, stderr } = await new Deno.Command("cargo", {
      args: ["install", ...crate, "--root", DENOKV_FOLDER, "--quiet"],
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(BUILD_LIMIT_MS),
    }).output();
    if (success && isBuilt()) return true;
    const errors = new TextDecoder().decode(stderr).split("\n");
    console.error(`denokv is left out: ${errors.find((line) => line.startsWith("error"))}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.error("denokv is left out: cargo is not installed");
  }
  return false;
}

if (import.meta.main) await installDenokv();
