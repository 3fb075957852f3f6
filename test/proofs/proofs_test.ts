/**
 * Tests of the published log with third-party tools from their registries, which are installed first: Tessera's
 * `fsck` and the libraries of Go's checksum database, and `proofbundle` from PyPI. If a tool cannot be installed,
 * its tests are ignored with one line.
 *
 *     deno task test:proofs
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { prove, publish } from "eventstore-less/tools";
import { generateKeyPairSync } from "node:crypto";
import { openBookings } from "../eventstore_less/tools/bookings.ts";
import { runTask } from "../support/run_task.ts";
import { linesToBytes, rewritten, sampleLog } from "../support/sample_log.ts";
import { expectDone, install, installFromPyPI, run } from "../support/third_party_tools.ts";
import { testNeeding } from "../support/test_needing.ts";

const FSCK = "github.com/transparency-dev/tessera/cmd/fsck@v1.0.4";

const HERE = new URL("./", import.meta.url).pathname;
const CACHE = new URL("../../.cache/proofs", import.meta.url).pathname;
const BIN = `${CACHE}/bin`;

/** Number of events of the published log, and of the older checkpoint. */
const EVENTS = 30_000;
const OLD_EVENTS = 20_001;

const ORIGIN = "log.shop.example/pets";

const withGo = await install("Go", async () => {
  const options = {
    cwd: `${HERE}/verify_log`,
    env: { GOBIN: BIN, GOFLAGS: "-buildvcs=false" },
  };
  for (const what of [FSCK, "."]) await expectDone("go", ["install", what], options);
});
const test = testNeeding(withGo);
const withPython = await install(
  "proofbundle",
  () => installFromPyPI(CACHE, `${HERE}/requirements.txt`),
);

const published = withGo.isMet || withPython.isMet ? await publishSample() : undefined;
addEventListener(
  "unload",
  () => published && Deno.removeSync(published.folder, { recursive: true }),
);

test("Tessera's fsck accepts a published log and refuses it with one altered line", async () => {
  const { dir } = published!;
  // Its exit code is always 0, and with fewer workers than damaged tiles it would hang.
  const fsck = async () =>
    (await run(`${BIN}/fsck`, [
      `--storage_url=file://${dir}/`,
      `--public_key=${dir}/log.vkey`,
      "--ui=false",
      "-N=8",
    ])).output;
  assertStringIncludes(await fsck(), `Successfully fsck'd log with size ${EVENTS} `);
  const bundle = `${dir}/tile/entries/100`;
  const content = await Deno.readFile(bundle);
  await Deno.writeFile(bundle, content.with(1_000, content[1_000] ^ 1));
  const output = await fsck();
  await Deno.writeFile(bundle, content);
  assertStringIncludes(output, "fsck failed: failed: tile/0/100: log has");
  assert(!output.includes("Successfully"));
});

test("Go's tlog and note verify the checkpoint and that the log extends the older one", async () => {
  const { dir, forkedDir, old } = published!;
  const verify = (command: string, ...args: string[]) =>
    run(`${BIN}/verify_log`, [command, `${dir}/log.vkey`, ...args]);
  for (
    const [command, ...args] of [["checkpoint", `${dir}/checkpoint`], ["consistency", old, dir]]
  ) {
    assertEquals(await verify(command, ...args), { code: 0, output: "" }, command);
  }
  // The same key has signed another history elsewhere, which its owner must never do.
  const checkpoint = await verify("checkpoint", `${forkedDir}/checkpoint`);
  assertEquals(checkpoint.code, 0, checkpoint.output);
  const forked = await verify("consistency", old, forkedDir);
  assertEquals(forked.code, 1);
  assertStringIncludes(forked.output, "invalid transparency proof");
});

testNeeding(withPython)(
  "proofbundle accepts a proof and refuses it for an altered line",
  async () => {
    const { dir, proof, line } = published!;
    const vkey = (await Deno.readTextFile(`${dir}/log.vkey`)).trim();
    const flags = [`--payload-file=${line}`, `--log-vkey=${vkey}`, `--expected-origin=${ORIGIN}`];
    const verify = () => run(`${BIN}/proofbundle`, ["verify-proof", proof, ...flags]);
    const accepted = await verify();
    assertEquals(accepted.code, 0, accepted.output);
    await Deno.writeTextFile(line, (await Deno.readTextFile(line)).replace("Zoë", "Zoé"));
    assertEquals((await verify()).code, 1);
  },
);

testNeeding(withPython)(
  "proofbundle accepts a proof that the engine makes of the log of another application",
  async () => {
    const folder = await Deno.makeTempDir();
    try {
      await using store = await openBookings(":memory:", { count: 700 });
      const { privateKey: key } = generateKeyPairSync("ed25519");
      const { vkey } = await publish(store, `${folder}/published`, { key, origin: ORIGIN });
      const { proof, line } = await prove(`${folder}/published`, "bookings/300", store);
      const [proofPath, linePath] = ["proof", "line"].map((name) => `${folder}/${name}`);
      await Deno.writeTextFile(proofPath, proof);
      const flags = [`--payload-file=${linePath}`, `--log-vkey=${vkey}`];
      for (const [content, code] of [[line, 0], [line.with(-3, 0x30), 1]] as const) {
        await Deno.writeFile(linePath, content);
        const verified = await run(`${BIN}/proofbundle`, ["verify-proof", proofPath, ...flags]);
        assertEquals(verified.code, code, verified.output);
      }
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
);

/** Publishes a log in two steps with a proof of one pet, and a forked log with the same key. */
async function publishSample() {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/store/pets.sqlite3`;
  await Deno.mkdir(`${folder}/store`);
  const task = async (...args: string[]) => {
    const { code, stdout, stderr } = await runTask(args, { kvPath });
    assertEquals(code, 0, `${args.join(" ")}: ${stderr}`);
    return stdout;
  };
  const [dir, forkedDir] = [`${folder}/published`, `${folder}/forked`];
  const [key, exported] = [`${folder}/log.key`, `${folder}/pets.jsonl`];
  await task("publish", "--new-key", key);
  const publish = async (dir: string, lines: string[]) => {
    await Deno.writeFile(exported, linesToBytes(lines));
    const source = ["--file", exported, "--entries"];
    await task("publish", dir, "--key", key, "--origin", ORIGIN, ...source);
  };
  const lines = sampleLog(EVENTS);
  const fork = OLD_EVENTS - 2_000;
  await publish(
    forkedDir,
    rewritten(lines, fork, lines[fork].replace('"time":"2026', '"time":"2025')),
  );
  await publish(dir, lines.slice(0, OLD_EVENTS));
  const old = `${folder}/old-checkpoint`;
  await Deno.copyFile(`${dir}/checkpoint`, old);
  await publish(dir, lines);
  const line = `${folder}/pet-7.line`;
  const from = ["--file", exported];
  const proof = `${folder}/pet-7.tlog-proof`;
  const text = await task("prove", "pets/7", "--published", dir, "--line", line, ...from);
  await Deno.writeTextFile(proof, text);
  return { folder, dir, forkedDir, old, proof, line };
}
