/**
 * Builds `denokv`, the self-hosted KV Connect server, with cargo, unless that was done before. If this is not
 * possible, prints one line.
 *
 *     deno run --allow-all test/support/install_denokv.ts
 */

import { DENOKV_FOLDER, DENOKV_VERSION, isBuilt } from "./denokv_server.ts";

/** A build takes some minutes on two cores. */
const BUILD_LIMIT_MS = 40 * 60_000;

if (!isBuilt()) {
  console.error(`Building denokv ${DENOKV_VERSION} with cargo once; this takes minutes`);
  const crate = ["denokv", "--version", DENOKV_VERSION, "--locked"];
  try {
    const { stderr } = await new Deno.Command("cargo", {
      args: ["install", ...crate, "--root", DENOKV_FOLDER, "--quiet"],
      stdout: "null",
      stderr: "piped",
      signal: AbortSignal.timeout(BUILD_LIMIT_MS),
    }).output();
    const errors = new TextDecoder().decode(stderr).split("\n");
    const reason = errors.find((line) => line.startsWith("error")) ?? "cargo gives no reason";
    if (!isBuilt()) console.error(`denokv is left out: ${reason}`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    console.error("denokv is left out: cargo is not installed");
  }
}
